/** One commit meets the listeners of all clients: those whose targets it does not concern do nothing. */
import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { Meter } from '../../../../packages/local-firestore/src/meter.ts';
import type { Database } from '../../../../packages/local-firestore/src/service/database.ts';
import { Listener } from '../../../../packages/local-firestore/src/service/listen/listener.ts';

const DATABASE = 'projects/p/databases/(default)';
const doc = (path: string) => ({ name: `${DATABASE}/documents/${path}`, segments: path.split('/') });

test('a listener works only for commits that concern one of its targets', async () => {
  let moments = 0;
  let commit: (names: readonly string[]) => void = () => {};
  const database = {
    incarnation: 'first',
    readTime: () => ++moments,
    get: () => undefined,
    watch(watcher: typeof commit) {
      commit = watcher;
      return () => {};
    },
  } as unknown as Database;
  const sent: object[] = [];
  const listener = new Listener({
    database,
    meter: new Meter(() => 0),
    durable: () => undefined,
    send(message) {
      sent.push(message);
      return undefined;
    },
    fail(error) {
      throw error;
    },
  });
  const work = async () => {
    for (let i = 0; i < 3; i++) await turn();
    return moments;
  };
  const target = { id: 1, once: false, since: undefined, expectedCount: undefined };
  listener.add({ ...target, scope: { kind: 'documents', documents: [doc('c/a'), doc('c/b')] } });
  expect(await work()).toBe(1);
  expect(sent.length).toBeGreaterThan(0);
  commit([doc('c/other').name, doc('c/a/c/a').name]);
  expect(await work()).toBe(1);
  commit([doc('c/other').name, doc('c/b').name]);
  expect(await work()).toBe(2);
  listener.close();
});
