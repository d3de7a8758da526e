import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from '@jest/globals';
import { connect } from './support/client.ts';

const MAIN = fileURLToPath(new URL('../../../packages/local-firestore/src/main.ts', import.meta.url));
const OURS = fileURLToPath(new URL('../../../firestore.indexes.json', import.meta.url));
const FAILED_PRECONDITION = 9;

const folder = mkdtempSync(join(tmpdir(), 'cairn-alone-'));
const started: ChildProcess[] = [];
afterAll(() => {
  for (const server of started) server.kill('SIGKILL');
  rmSync(folder, { recursive: true });
});

function run(...flags: string[]) {
  const server = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', MAIN, ...flags]);
  started.push(server);
  return server;
}

async function serving(...flags: string[]) {
  const server = run(...flags);
  const [line] = (await once(server.stdout, 'data')) as [Buffer];
  const db = connect(String(line).trim().replace('FIRESTORE_EMULATOR_HOST=', ''));
  const stop = async () => {
    await db.terminate();
    server.kill('SIGTERM');
    return (await once(server, 'exit'))[0] as number;
  };
  return { db, stop };
}

test('the standalone server serves any query, keeps its documents in a file, and enforces indexes if configured', async () => {
  const data = join(folder, 'alone.sqlite');
  const first = await serving('--data', data);
  await first.db.doc('any/one').set({ a: 1, b: 2 });
  const query = (db: typeof first.db) => db.collection('any').where('a', '>', 0).where('b', '<', 3).get();
  expect((await query(first.db)).size).toBe(1);
  expect(await first.stop()).toBe(0);

  const second = await serving('--data', data, '--indexes', OURS);
  expect((await second.db.doc('any/one').get()).data()).toEqual({ a: 1, b: 2 });
  await expect(query(second.db)).rejects.toMatchObject({ code: FAILED_PRECONDITION });
  expect(await second.stop()).toBe(0);
});

test('invalid flags are reported, and end it', async () => {
  const server = run('--port', '70000');
  const [said, [ended]] = await Promise.all([text(server.stderr), once(server, 'exit')]);
  expect({ ended, said }).toEqual({ ended: 2, said: expect.stringContaining('--port must be') });
});
