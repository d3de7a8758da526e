import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { readDocument } from '../docs/snippets.ts';

const ROOT = join(import.meta.dirname, '../..');
const NODE = ['--disable-warning=ExperimentalWarning'];

const COMMANDS = [
  ['firestore', 'FIRESTORE_EMULATOR_HOST', "[ '1' ]\n"],
  ['tasks', 'CLOUD_TASKS_EMULATOR_HOST', 'a task of emails\n'],
  ['pubsub', 'PUBSUB_EMULATOR_HOST', '{"orderId":7}\n'],
] as const;

let folder: string;
const started: ChildProcess[] = [];
beforeAll(() => {
  // Inside the project, so that an example finds the packages that it names.
  mkdirSync(join(ROOT, '.cairn'), { recursive: true });
  folder = mkdtempSync(join(ROOT, '.cairn/alone-'));
});
afterAll(() => {
  for (const one of started) one.kill('SIGKILL');
  rmSync(folder, { recursive: true });
});

function run(name: string, words: readonly string[]) {
  const main = join(ROOT, `packages/local-${name}/src/main.ts`);
  const child = spawn(process.execPath, [...NODE, main, ...words], { stdio: ['ignore', 'pipe', 'pipe'] });
  started.push(child);
  return child;
}

/** The words after the package in the README's call, with a free port. */
function wordsOf(readme: string, name: string): string[] {
  const [, words = ''] = new RegExp(`npx @cairn/local-${name} (.*)`).exec(readme) ?? [];
  return words.replace(/--port \d+/, '--port 0').split(' ');
}

describe.each(COMMANDS)('local-%s', (name, variable, prints) => {
  const readme = readDocument(`packages/local-${name}/README.md`);

  test('starts as its README says, serves the example, and stops on request', async () => {
    const server = run(name, [...wordsOf(readme, name), '--json']);
    const [line] = (await once(createInterface({ input: server.stdout }), 'line')) as [string];
    const { ready, host, env } = JSON.parse(line);
    expect({ ready, env }).toEqual({
      ready: `local-${name}`,
      env: { [variable]: host, GCLOUD_PROJECT: 'demo-shop' },
    });

    const [, example = ''] = /```js\n([\s\S]*?)```/.exec(readme) ?? [];
    const file = join(folder, `${name}.mjs`);
    writeFileSync(file, example);
    const surroundings = { ...process.env, ...env, METADATA_SERVER_DETECTION: 'none' };
    const client = spawn(process.execPath, [file], { env: surroundings, stdio: ['ignore', 'pipe', 'pipe'] });
    started.push(client);
    const [out, complaints, [code]] = await Promise.all([
      text(client.stdout),
      text(client.stderr),
      once(client, 'exit'),
    ]);
    expect({ code, out, complaints }).toEqual({ code: 0, out: prints, complaints: '' });

    server.kill('SIGTERM');
    expect((await once(server, 'exit'))[0]).toBe(0);
  });

  test('its help names every flag of its README', async () => {
    const help = await text(run(name, ['--help']).stdout);
    const flags = [...readme.matchAll(/--[a-z]+/g)].map(([flag]) => flag);
    expect(flags.length).toBeGreaterThan(3);
    for (const flag of flags) expect(help).toContain(`  ${flag}`);
  });
});

test.each([
  ['tasks', ['--queue', 'a/b'], '--queue must be'],
  [
    'tasks',
    ['--functions', 'here'],
    "--functions must be a URL without a query or fragment such as http://127.0.0.1:5001/demo/us-central1, not 'here'",
  ],
  [
    'tasks',
    ['--app-engine', 'nonsense'],
    "--app-engine must be a URL without a query or fragment such as http://127.0.0.1:8080, not 'nonsense'",
  ],
  ['tasks', ['--app-engine', 'http://127.0.0.1:1/?x=1'], '--app-engine must be a URL without a query'],
  ['tasks', ['--app-engine', 'http://127.0.0.1:1/#f'], '--app-engine must be a URL without a query'],
  ['pubsub', ['--topic', 'google'], '--topic must be'],
  ['pubsub', ['--nothing'], '--nothing'],
])('local-%s %j is refused with what is wrong and the help', async (name, words, expected) => {
  const server = run(name, words);
  const [complaints, [code]] = await Promise.all([text(server.stderr), once(server, 'exit')]);
  expect(code).toBe(2);
  expect(complaints).toContain(`local-${name}: `);
  expect(complaints).toContain(expected);
  expect(complaints).toContain('--port N');
});

test('a port that is taken is named, with what to do', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as { port: number };
  const server = run('firestore', ['--port', String(port)]);
  const [said, [code]] = await Promise.all([text(server.stderr), once(server, 'exit')]);
  other.close();
  expect({ code, said }).toEqual({
    code: 1,
    said: `local-firestore: port ${port} is in use. Choose another with --port, or omit it to use any free port\n`,
  });
});
