/**
 * A person in front of `npm start`: lines of the functions as text with run and step, and the functions loaded anew when one of their
 * files changes. Owns what is watched, and what is said about it.
 */
import { dirname, extname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { styleText } from 'node:util';
import type { LocalCloud } from '../cloud.ts';
import { assertPlansKept } from '../plans.ts';
import { readableError } from './load-error.ts';
import { forPerson, type Paint, readLine, type Severity } from './log-line.ts';
import { isIgnored, isModule } from './project.ts';
import { watchFiles } from './watch-files.ts';

const ROOT = fileURLToPath(new URL('../../../..', import.meta.url)).replace(/\/$/, '');
/** Between two signs that the start goes on. */
const SIGN_MS = 10_000;
const FORMATS = { bad: 'red', warn: 'yellow', busy: 'cyan', dim: 'dim', bold: 'bold' } as const;

/** Place where a person reads, and the time of a line. */
interface Desk {
  write(text: string): void;
  /** Epoch ms. */
  now(): number;
}

type Served = Pick<LocalCloud, 'gateway' | 'apiKey' | 'reload'>;

/** No colours in a file, in a pipe, or with NO_COLOR. */
const paint: Paint = (tone, text) =>
  text === '' ? '' : styleText(FORMATS[tone], text, { stream: process.stderr });

/** Destinations of what functions and the cloud print. */
export function readableLog(desk: Desk) {
  const tell = teller(desk);
  return {
    output: (line: string) => tell('functions', line),
    log: (message: string) => tell('cairn', message),
  };
}

/** Says that the start goes on, until it is called. */
export function saidToStart({ write }: Desk): () => void {
  const began = performance.now();
  write('cairn: starting the local cloud…\n');
  const ticker = setInterval(() => {
    write(`cairn: loading the functions, ${Math.round((performance.now() - began) / 1_000)} s…\n`);
  }, SIGN_MS);
  return () => clearInterval(ticker);
}

/**
 * Serves the functions anew when a file beside their module, or of this repository's own functions, changes. Those of before are served
 * on while it cannot be loaded.
 *
 * @param functionsModule default: the repository's own
 * @returns its end
 */
export function reloadOnChange(
  cloud: Served,
  functionsModule: string | undefined,
  desk: Desk,
): () => Promise<void> {
  const own = join(ROOT, 'functions/src');
  const folders = new Set([own, ...(functionsModule ? [dirname(resolve(functionsModule))] : [])]);
  const tell = teller(desk);
  let newest = 0;
  const reload = async (changed: readonly string[]) => {
    newest += 1;
    const reload = newest;
    const began = performance.now();
    try {
      await cloud.reload({ name: 'default' });
      const places = changed.map((path) => relative(process.cwd(), path)).join(', ');
      if (reload === newest)
        tell('cairn', `reloaded in ${Math.round(performance.now() - began)} ms: ${places}`);
      await tellChangedPlans(cloud, tell);
    } catch (error) {
      const reason = readableError(error instanceof Error ? error.message : String(error), process.cwd());
      if (reload === newest)
        tell(
          'cairn',
          `the functions cannot be loaded: ${reason}\nThe previous version continues to serve.`,
          'ERROR',
        );
    }
  };
  return watchFiles({
    folders,
    ignored: (path) => [...folders].some((folder) => path.startsWith(folder) && isIgnored(folder, path)),
    take(paths) {
      const modules = [...paths].filter((path) => isModule(extname(path)));
      if (modules.length > 0) void reload(modules);
    },
    onError: (error) => tell('cairn', `files cannot be watched: ${String(error)}`, 'ERROR'),
  });
}

async function tellChangedPlans({ gateway, apiKey }: Served, tell: ReturnType<typeof teller>): Promise<void> {
  const headers = { Authorization: `Bearer ${apiKey}` };
  await assertPlansKept((path) => fetch(`${gateway}${path}`, { headers })).catch((error: Error) =>
    tell('cairn', error.message, 'WARNING'),
  );
}

/** A line that says its severity itself keeps it. */
function teller({ write, now }: Desk) {
  return (source: string, line: string, severity?: Severity) => {
    const read = readLine(line);
    const text = forPerson(severity ? { ...read, severity } : read, { source, at: now() }, paint);
    if (text !== undefined) write(`${text}\n`);
  };
}
