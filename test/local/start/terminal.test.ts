import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { installBuiltCairn } from '../../../scripts/test-functions/built.ts';
import { eventually } from '../../system/support.ts';

const ROOT = join(import.meta.dirname, '../../..');
const LIMIT_MS = 180_000;

const FUNCTIONS = `
import { cairnFunctions } from 'cairn/functions';
import { greet } from './greet.ts';
export const { api, drive, driveAlone, recoverRuns } = cairnFunctions({ workflows: [greet] });
`;
const GREET = (text: string) => `
import { defineWorkflow } from 'cairn';
import { z } from 'zod';
export const greet = defineWorkflow({
  type: 'greet', planVersion: 1, input: z.object({}),
  steps: (step) => ({ hello: step('hello', ({ log }) => { log.warn('${text}', { n: 1 }); return 1; }) }),
});
`;

/** Resolves the package to its sources, because a bundle has other frames. */
const WITH_SOURCES = 'with-sources';

let folder: string;
let child: ChildProcess;
const said = { out: '', err: '' };
const write = (name: string, text: string) => writeFileSync(join(folder, name), text);

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'cairn-attended-'));
  for (const own of ['.', WITH_SOURCES]) {
    mkdirSync(join(folder, own, 'node_modules'), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules/zod'), join(folder, own, 'node_modules/zod'));
    write(join(own, 'package.json'), '{ "type": "module" }');
  }
  installBuiltCairn(join(folder, 'node_modules'));
  symlinkSync(join(ROOT, 'packages/cairn'), join(folder, WITH_SOURCES, 'node_modules/cairn'));
  write('functions.ts', FUNCTIONS);
  write('greet.ts', GREET('good morning'));
  const main = join(ROOT, 'packages/local/src/main.ts');
  const words = [
    '--port',
    '0',
    '--data',
    'memory',
    '--no-spare',
    '--functions',
    join(folder, 'functions.ts'),
  ];
  child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', main, ...words], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, FORCE_COLOR: '1' },
  });
  child.stdout?.on('data', (chunk) => {
    said.out += chunk;
  });
  child.stderr?.on('data', (chunk) => {
    said.err += chunk;
  });
  await eventually('the greeting', async () => said.out.includes('Try it:') || undefined);
}, LIMIT_MS);
afterAll(async () => {
  if (child.exitCode === null) {
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
  rmSync(folder, { recursive: true, force: true });
});

const plain = () => stripVTControlCharacters(said.err);

async function start(): Promise<void> {
  const [, gateway] = /gateway +(\S+)/.exec(said.out) ?? [];
  const [, key] = /API key +(\S+)/.exec(said.out) ?? [];
  const answer = await fetch(`${gateway}/v1/runs`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: '{"type":"greet","input":{}}',
  });
  expect([answer.status, await answer.text()]).toEqual([201, expect.any(String)]);
}

async function reads(pattern: RegExp): Promise<void> {
  await eventually(`the log to say ${pattern}`, async () => pattern.test(plain()) || undefined);
}

test('npm start prints immediately that it is starting, and prints log lines of steps with run and step, in colour', async () => {
  expect(said.err.startsWith('cairn: starting the local cloud')).toBe(true);
  await start();
  await reads(/^\d\d:\d\d:\d\dZ {2}functions {2}run_\w{26} {2}hello {2}good morning {2}n=1$/m);
  expect(said.err).toContain('\u001b[33mgood morning\u001b[39m');
  expect(plain()).not.toMatch(/^\{/m);
});

test('an edit is served at once; one that does not load is reported with its file, and the previous version continues', async () => {
  write('greet.ts', GREET('good evening'));
  await reads(/cairn {2}reloaded in \d+ ms: .*greet\.ts$/m);
  await start();
  await reads(/hello {2}good evening/);
  write('greet.ts', GREET('good night').replace('planVersion: 1', "planVersion: 1, timeout: 'soon'"));
  await reads(/the functions cannot be loaded: .*workflow 'greet': 'timeout' "soon" is not a duration/);
  await reads(/greet\.ts:\d+:\d+/);
  await reads(/The previous version continues to serve\./);
  await start();
  await eventually('another good evening', async () =>
    (plain().match(/hello {2}good evening/g)?.length ?? 0) > 1 ? true : undefined,
  );
});

test.each([
  { flags: [], isWhole: false },
  { flags: ['--verbose'], isWhole: true },
])(
  'a start that fails names workflow, step and option, and says what to do, before any frame: $flags',
  ({ flags, isWhole }) => {
    const broken = join(WITH_SOURCES, 'broken.ts');
    write(broken, FUNCTIONS.replace('./greet.ts', './wrong.ts'));
    write(
      join(WITH_SOURCES, 'wrong.ts'),
      GREET('good night').replace("step('hello',", "step('hello', { timeout: 'soon' },"),
    );
    const main = join(ROOT, 'packages/local/src/main.ts');
    const words = ['--port', '0', '--data', 'memory', '--functions', join(folder, broken), ...flags];
    const { status, stderr } = spawnSync(
      process.execPath,
      ['--disable-warning=ExperimentalWarning', main, ...words],
      {
        encoding: 'utf8',
      },
    );
    const [, reason = ''] = stderr.split('the functions could not be loaded:\n');
    const [first = '', second = '', third = ''] = reason.split('\n');
    expect([status, first.replace('CairnError: ', '')]).toEqual([
      1,
      `workflow 'greet': step 'hello': 'timeout' "soon" is not a duration`,
    ]);
    expect(second).toMatch(/^Use an integer and a unit: "1500ms"/);
    expect(third).toMatch(/^ {4}at /);
    expect(reason).toMatch(/wrong\.ts:\d+:\d+/);
    expect(reason.includes('packages/cairn/')).toBe(isWhole);
    expect(reason.includes('(--verbose)')).toBe(!isWhole);
  },
);

test('a failed attempt is printed with its message and the frames of its code', async () => {
  const before = plain().length;
  const throwing = "() => {\n  throw new Error('no funds');\n}) }),\n});\n";
  write('greet.ts', GREET('').replace(/\(\{ log \}\)[\s\S]*/, throwing));
  const since = (pattern: RegExp) =>
    eventually(`the log to say ${pattern}`, async () => pattern.test(plain().slice(before)) || undefined);
  await since(/cairn {2}reloaded in \d+ ms: .*greet\.ts$/m);
  await start();
  await since(/hello {2}step_attempt_failed: no funds .*\n {4}at .*greet\.ts:\d+:\d+\)?$/m);
});

test('times are those of the tables: in UTC, by the clock of the cloud, also after it was moved', async () => {
  const [, control] = /control +(\S+)/.exec(said.out) ?? [];
  const ms = 7 * 3_600_000;
  const moved = await fetch(`${control}/clock/advance`, { method: 'POST', body: JSON.stringify({ ms }) });
  expect(moved.status).toBe(200);
  const hour = (at: number) => new Date(at).toISOString().slice(11, 13);
  const from = Date.now() + ms;
  const lines = plain().length;
  await start();
  await eventually('a line after it', async () => plain().slice(lines).includes('run_') || undefined);
  const [, seen] = /^(\d\d):\d\d:\d\dZ .*run_/m.exec(plain().slice(lines)) ?? [];
  expect([hour(from), hour(Date.now() + ms)]).toContain(seen);
});

test('Ctrl-C ends it with exit code 0', async () => {
  child.kill('SIGINT');
  expect(await once(child, 'exit')).toEqual([0, null]);
});
