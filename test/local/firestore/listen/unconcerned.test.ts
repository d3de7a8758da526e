/** Every commit reaches the listeners of all clients; a listener whose targets it does not concern does nothing. */
import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Meter } from '../../../../packages/local-firestore/src/meter.ts';
import { AUTOMATIC_INDEXES } from '../../../../packages/local-firestore/src/model/index/index-config.ts';
import { normaliseQuery } from '../../../../packages/local-firestore/src/model/query/normalise.ts';
import type { Database } from '../../../../packages/local-firestore/src/service/database.ts';
import { Listener } from '../../../../packages/local-firestore/src/service/listen/listener.ts';

const EVERYTHING = {
  filter: undefined,
  orders: [],
  startAt: undefined,
  endAt: undefined,
  offset: 0,
  limit: undefined,
  select: undefined,
  required: [],
};
const DATABASE = 'projects/p/databases/(default)';
const doc = (path: string) => ({ name: `${DATABASE}/documents/${path}`, segments: path.split('/') });

/** A listener of an empty database, with its number of updates and a function that commits. */
function listen() {
  let moments = 0;
  let commit: (names: readonly string[]) => void = () => {};
  const none = () => [];
  const database = {
    incarnation: 'first',
    planned: { config: AUTOMATIC_INDEXES, database: 1, countEntries: () => 0 },
    number: 1,
    storage: { get: () => undefined, scanDocuments: none, scanEntries: none },
    listGroup: () => {},
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
  return { listener, sent, work, commit: (names: readonly string[]) => commit(names) };
}

const target = { once: false, since: undefined, expectedCount: undefined };

test('a listener works only for commits that concern one of its targets', async () => {
  const { listener, sent, work, commit } = listen();
  listener.add({ ...target, id: 1, scope: { kind: 'documents', documents: [doc('c/a'), doc('c/b')] } });
  expect(await work()).toBe(1);
  expect(sent.length).toBeGreaterThan(0);
  commit([doc('c/other').name, doc('c/a/c/a').name]);
  expect(await work()).toBe(1);
  commit([doc('c/other').name, doc('c/b').name]);
  expect(await work()).toBe(2);
  listener.close();
});

/** Few similar ids, so that paths often coincide. */
const id = fc.constantFrom('a', 'b', 'ab', 'documents');
const path = (least: number) =>
  fc.array(fc.tuple(id, id), { minLength: least, maxLength: 3 }).map((pairs) => pairs.flat());
const anyScope = fc.oneof(
  fc.record({ parent: path(0), collectionId: id, allDescendants: fc.constant(false) }),
  fc.record({ parent: fc.constant<string[]>([]), collectionId: id, allDescendants: fc.constant(true) }),
);
type Scope = typeof anyScope extends fc.Arbitrary<infer T> ? T : never;

function isInScope({ parent, collectionId, allDescendants }: Scope, segments: readonly string[]): boolean {
  const below = segments.slice(parent.length);
  const isBelow = parent.every((segment, i) => segments[i] === segment) && below.length > 0;
  return isBelow && segments.at(-2) === collectionId && (allDescendants || below.length === 2);
}

test('a commit wakes a listener exactly if it changes a document in the scope of a target', async () => {
  const targets = fc.record({
    scopes: fc.array(anyScope, { maxLength: 3 }),
    documents: fc.array(path(1), { maxLength: 2 }),
  });
  const commits = fc.array(fc.array(path(1), { minLength: 1, maxLength: 3 }), { maxLength: 5 });
  await fc.assert(
    fc.asyncProperty(targets, commits, async ({ scopes, documents }, changes) => {
      const { listener, work, commit } = listen();
      scopes.forEach((scope, i) => {
        const query = normaliseQuery({ ...EVERYTHING, scope: { database: DATABASE, ...scope } });
        listener.add({ ...target, id: i + 1, scope: { kind: 'query', query } });
      });
      const addresses = documents.map((segments) => doc(segments.join('/')));
      listener.add({ ...target, id: 10, scope: { kind: 'documents', documents: addresses } });
      let moments = await work();
      for (const changed of changes) {
        const names = changed.map((segments) => doc(segments.join('/')).name);
        const concerns =
          names.some((name) => addresses.some((address) => address.name === name)) ||
          changed.some((segments) => scopes.some((scope) => isInScope(scope, segments)));
        commit(names);
        const after = await work();
        expect(after - moments).toBe(concerns ? 1 : 0);
        moments = after;
      }
      listener.close();
    }),
  );
});
