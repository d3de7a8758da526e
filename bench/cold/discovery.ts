/** The time in which `firebase deploy` learns of a codebase with many workflows: its SDK loads the module and writes what is in it. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { rounded } from '../statistics.ts';

const ROOT = join(import.meta.dirname, '../..');
const WORKFLOWS = 30;
const TIMES = 5;
/** Most time for the whole process, ms. */
export const DISCOVERED_WITHIN_MS = 2_000;
const LIMIT_MS = 120_000;

export interface Discovery {
  readonly workflows: number;
  /** Of the process, ms: the median and the longest. */
  readonly medianMs: number;
  readonly longestMs: number;
}

/** A codebase as `cairn init` makes it, on the package as it is published; every workflow is loaded. @throws Error if it is not discovered */
export function discovery(): Discovery {
  mkdirSync(join(ROOT, '.cairn'), { recursive: true });
  // Inside the project, so that the package finds what npm would have installed beside it.
  const folder = mkdtempSync(join(ROOT, '.cairn/discovery-'));
  try {
    run(folder, [join(ROOT, 'scripts/pack.mjs'), '--staged', folder]);
    const codebase = join(folder, 'codebase');
    writeCodebase(codebase, join(folder, 'staged/cairn'));
    const times = Array.from({ length: TIMES }, () => discoveredIn(codebase)).toSorted((a, b) => a - b);
    return {
      workflows: WORKFLOWS,
      medianMs: rounded(times[Math.floor(TIMES / 2)] ?? 0, 0),
      longestMs: rounded(times.at(-1) ?? 0, 0),
    };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function writeCodebase(codebase: string, cairn: string): void {
  mkdirSync(join(codebase, 'node_modules'), { recursive: true });
  symlinkSync(cairn, join(codebase, 'node_modules/cairn'));
  const names = Array.from({ length: WORKFLOWS }, (_, i) => `w${i}`);
  const files = {
    'package.json': '{"type":"module","main":"index.js"}',
    'index.js': [
      "import { cairnFunctions } from 'cairn/functions';",
      ...names.map((name) => `import { ${name} } from './${name}.js';`),
      `export const cairn = cairnFunctions({ workflows: [${names.join(', ')}], database: 'cairn', managedAccount: true });`,
    ].join('\n'),
    ...Object.fromEntries(names.map((name) => [`${name}.js`, workflow(name)])),
  };
  for (const [path, text] of Object.entries(files)) writeFileSync(join(codebase, path), text);
}

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

/** @returns how long the process took, ms */
function discoveredIn(codebase: string): number {
  const sdk = join(ROOT, 'node_modules/firebase-functions');
  const { bin } = JSON.parse(readFileSync(join(sdk, 'package.json'), 'utf8')) as {
    bin: Record<string, string>;
  };
  const output = join(codebase, 'functions.yaml');
  const began = performance.now();
  run(codebase, [join(sdk, bin['firebase-functions'] ?? ''), codebase], output);
  const tookMs = performance.now() - began;
  const { endpoints } = JSON.parse(readFileSync(output, 'utf8')) as { endpoints: object };
  if (!('cairn-drive' in endpoints)) throw new Error(`it found ${Object.keys(endpoints).join(', ')}`);
  rmSync(output);
  return tookMs;
}

function run(cwd: string, words: readonly string[], output?: string): void {
  const env = {
    PATH: process.env.PATH,
    GCLOUD_PROJECT: 'demo-discovery',
    FIREBASE_CONFIG: '{"projectId":"demo-discovery"}',
    ...(output !== undefined && {
      FUNCTIONS_CONTROL_API: 'true',
      FUNCTIONS_MANIFEST_OUTPUT_PATH: output,
    }),
  };
  const ended = spawnSync(process.execPath, words, { cwd, env, encoding: 'utf8', timeout: LIMIT_MS });
  if (ended.status !== 0)
    throw new Error(`${words.join(' ')} ended with ${ended.status}: ${ended.stdout}${ended.stderr}`);
}
