/** A local server that could not start leaves its file to the next one. */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { startFirestoreServer } from '../../../packages/local-firestore/src/server.ts';
import { movableClock } from '../../../packages/local-kit/src/time/clock.ts';
import { startPubsubServer } from '../../../packages/local-pubsub/src/server.ts';
import { randomTaskId, startTasksServer } from '../../../packages/local-tasks/src/server.ts';

const STARTS = {
  firestore: (file: string, port: number) =>
    startFirestoreServer({ storage: { kind: 'sqlite', file }, port } as never),
  tasks: (file: string, port: number) =>
    startTasksServer({
      storage: { kind: 'sqlite', file },
      port,
      clock: movableClock(Date.now),
      dispatch: async () => ({ status: 200 }),
      freshTaskId: randomTaskId,
    } as never),
  pubsub: (file: string, port: number) =>
    startPubsubServer({
      storage: { kind: 'sqlite', file },
      port,
      clock: movableClock(Date.now),
      dispatch: async () => true,
      freshGeneration: () => 'g',
    } as never),
};

test.each(Object.entries(STARTS))('%s', async (_, start) => {
  const folder = mkdtempSync(join(tmpdir(), 'cairn-start-'));
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  const { port } = taken.address() as AddressInfo;
  await expect(start(join(folder, 'data.db'), port)).rejects.toMatchObject({ code: 'EADDRINUSE' });
  const server = await start(join(folder, 'data.db'), 0);
  await server.stop();
  taken.close();
  rmSync(folder, { recursive: true });
});
