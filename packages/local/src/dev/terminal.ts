/**
 * `npm start` on a terminal: prints the functions' log as text with run and step, and reloads the functions when one of their
 * files changes.
 */
import { dirname, extname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { styleText } from 'node:util';
import type { LocalCloud } from '../cloud.ts';
import { PlanReports } from '../plan-reports.ts';
import { forPerson, type Paint, readLine, type Severity } from './log-line.ts';
import { isIgnored, isModule } from './project.ts';
import { readableError } from './readable-error.ts';
import { watchFiles } from './watch-files.ts';

const ROOT = fileURLToPath(new URL('../../../..', import.meta.url)).replace(/\/$/, '');
/** Time between two progress marks of the start, ms. */
const PROGRESS_MS = 10_000;
const FORMATS = { bad: 'red', warn: 'yellow', busy: 'cyan', dim: 'dim', bold: 'bold' } as const;

/** Output for a person, and the time of a line. */
interface LogOutput {
  write(text: string): void;
  /** Epoch ms by the clock of the local cloud, which a person may have moved. */
  now(): number;
}

type ServedCloud = Pick<LocalCloud, 'gateway' | 'apiKey' | 'reload'>;

/** No colours in a file, in a pipe, or with NO_COLOR. */
const paint: Paint = (tone, text) =>
  text === '' ? '' : styleText(FORMATS[tone], text, { stream: process.stderr });

/** Destinations for the output of functions and the cloud. */
export function readableLog(terminal: LogOutput) {
  const print = lineWriter(terminal);
  return {
    output: (line: string) => print('functions', line),
    log: (message: string) => print('cairn', message),
    warn: (message: string) => print('cairn', message, 'WARNING'),
  };
}

/** Prints progress marks until the returned function is called. */
export function printProgress({ write }: LogOutput): () => void {
  const began = performance.now();
  write('cairn: starting the local cloud…\n');
  const ticker = setInterval(() => {
    write(`cairn: loading the functions, ${Math.round((performance.now() - began) / 1_000)} s…\n`);
  }, PROGRESS_MS);
  return () => clearInterval(ticker);
}

/**
 * Reloads the functions when a file beside their module, or of this repository's own functions, changes. The previous functions
 * continue to serve if the new ones cannot be loaded.
 *
 * @param functionsModule default: the repository's own
 * @returns a function that stops it
 */
export function reloadOnChange(
  cloud: ServedCloud,
  functionsModule: string | undefined,
  terminal: LogOutput,
): () => Promise<void> {
  const own = join(ROOT, 'functions/src');
  const folders = new Set([own, ...(functionsModule ? [dirname(resolve(functionsModule))] : [])]);
  const print = lineWriter(terminal);
  const plans = new PlanReports((findings) => {
    for (const { message } of findings) print('cairn', message, 'WARNING');
  });
  let newest = 0;
  const reload = async (changed: readonly string[]) => {
    newest += 1;
    const reload = newest;
    const began = performance.now();
    try {
      await cloud.reload({ name: 'default' });
      const places = changed.map((path) => relative(process.cwd(), path)).join(', ');
      if (reload === newest)
        print('cairn', `reloaded in ${Math.round(performance.now() - began)} ms: ${places}`);
      await checkPlans(cloud, plans).catch((error: unknown) => {
        print('cairn', (error as Error).message, 'WARNING');
      });
    } catch (error) {
      const reason = readableError(error instanceof Error ? error.message : String(error), process.cwd());
      if (reload === newest)
        print(
          'cairn',
          `the functions cannot be loaded: ${reason}\nThe previous version continues to serve.`,
          'ERROR',
        );
    }
  };
  return watchFiles({
    folders,
    ignored: (path) => [...folders].some((folder) => isIgnored(folder, path)),
    take(paths) {
      const modules = [...paths].filter((path) => isModule(extname(path)));
      if (modules.length > 0) void reload(modules);
    },
    onError: (error) => print('cairn', `files cannot be watched: ${String(error)}`, 'ERROR'),
  });
}

function checkPlans({ gateway, apiKey }: ServedCloud, plans: PlanReports): Promise<void> {
  const headers = { Authorization: `Bearer ${apiKey}` };
  return plans.check('api', (path) => fetch(`${gateway}${path}`, { headers }));
}

/** @returns a writer of log lines; the severity of a line overrides the default */
function lineWriter({ write, now }: LogOutput) {
  return (source: string, line: string, severity?: Severity) => {
    const read = readLine(line);
    const shown = { source, at: now(), root: process.cwd() };
    const text = forPerson(severity ? { ...read, severity } : read, shown, paint);
    if (text !== undefined) write(`${text}\n`);
  };
}
