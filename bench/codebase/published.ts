/**
 * A codebase with many workflows in the form of `cairn init`, with the published form of the packages. It is inside the
 * repository, so that the packages find their dependencies in a folder above.
 */
import { spawnSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';

export const ROOT = join(import.meta.dirname, '../..');
export const WORKFLOWS = 30;

interface PublishedCodebase extends Disposable {
  /** The folder of `firebase.json`. */
  readonly project: string;
  /** Absolute path of the codebase. */
  readonly folder: string;
  /** Absolute path of the main of the `cairn` command. */
  readonly cli: string;
}

/** @throws Error with the output of the build */
export function publishedCodebase(): PublishedCodebase {
  mkdirSync(join(ROOT, '.cairn'), { recursive: true });
  const home = mkdtempSync(join(ROOT, '.cairn/codebase-'));
  try {
    const pack = [join(ROOT, 'scripts/pack.mjs'), '--staged', home];
    const { status, stdout, stderr } = spawnSync(process.execPath, pack, { encoding: 'utf8' });
    if (status !== 0) throw new Error(`the packages cannot be built: ${stdout}${stderr}`);
    for (const name of readdirSync(join(home, 'staged'))) link(home, join(home, 'staged', name));
    const project = join(home, 'project');
    const folder = join(project, 'functions');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(project, 'firebase.json'), '{"functions":[{"source":"functions"}]}');
    for (const [path, text] of Object.entries(files())) writeFileSync(join(folder, path), text);
    return {
      project,
      folder,
      cli: join(home, 'staged/cli/lib/main.js'),
      [Symbol.dispose]: () => rmSync(home, { recursive: true }),
    };
  } catch (error) {
    rmSync(home, { recursive: true });
    throw error;
  }
}

function link(home: string, staged: string): void {
  const { name } = JSON.parse(readFileSync(join(staged, 'package.json'), 'utf8')) as { name: string };
  const place = join(home, 'node_modules', name);
  mkdirSync(dirname(place), { recursive: true });
  symlinkSync(staged, place, 'junction');
}

function files(): Readonly<Record<string, string>> {
  const names = Array.from({ length: WORKFLOWS }, (_, i) => `w${i}`);
  return {
    'package.json': '{"type":"module","main":"index.js","dependencies":{"cairn":"*"}}',
    'index.js': [
      "import { cairnFunctions } from 'cairn/functions';",
      ...names.map((name) => `import { ${name} } from './${name}.js';`),
      `export const cairn = cairnFunctions({ workflows: [${names.join(', ')}], database: 'cairn', managedAccount: true });`,
      "export { edited } from './edited.js';",
    ].join('\n'),
    'edited.js': editedTo(0),
    ...Object.fromEntries(names.map((name) => [`${name}.js`, workflow(name)])),
  };
}

/** Source of a function `edited` that answers with a number. */
export const editedTo = (nth: number): string => `
import { onRequest } from 'firebase-functions/https';
export const edited = onRequest((_request, response) => void response.send('${nth}'));
`;

const workflow = (name: string) => `
import { defineWorkflow } from 'cairn';
import { z } from 'zod';
export const ${name} = defineWorkflow({
  type: '${name}',
  planVersion: 1,
  input: z.object({ orderId: z.string(), amountCents: z.number().int().positive() }),
  steps(step) {
    const first = step('first', ({ input }) => ({ id: input.orderId }));
    const rest = Array.from({ length: 8 }, (_, i) => step('step-' + i, { needs: { first } }, ({ first }) => first.id));
    return { last: rest.at(-1) };
  },
});
`;
