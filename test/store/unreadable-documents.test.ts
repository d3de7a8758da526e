/** Documents that are missing, damaged or of a newer version, for readers of single members and of small documents. */
import type { Firestore } from '@google-cloud/firestore';
import { describe, expect, test } from '@jest/globals';
import { FirestoreFindingStore } from '../../packages/cairn/src/store/diagnosis/firestore-finding-store.ts';
import { FirestoreRunWatch } from '../../packages/cairn/src/store/watch/firestore-run-watch.ts';

/** A database whose only document is that of the watched run. */
function databaseWith(members: Readonly<Record<string, unknown>> | undefined): Firestore {
  const snapshot = {
    exists: members !== undefined,
    get: (name: string) => members?.[name],
    data: () => members,
  };
  const onSnapshot = (next: (found: unknown) => void) => {
    next(snapshot);
    return () => {};
  };
  return { doc: () => ({ onSnapshot }) } as unknown as Firestore;
}

describe.each([
  ['is missing', undefined],
  ['has no status', { tenantId: 't1' }],
  ['has a status of another version', { tenantId: 't1', status: 'flying' }],
])('a watched run that %s', (_, members) => {
  test('has not ended, and its watch has not failed', () => {
    const reported: string[] = [];
    const watch = new FirestoreRunWatch(databaseWith(members));
    const onError = (error: unknown) => void reported.push(`error ${error}`);
    watch.watchEnd('run_1', {
      onFound: (run) => void reported.push(`found ${run?.tenantId}`),
      onEnd: () => void reported.push('end'),
      onError,
    });
    watch.watchLogs('run_1', { onLogs: (ended) => void reported.push(`logs ${ended?.status}`), onError });
    expect(reported).toEqual([`found ${members?.tenantId}`, 'logs undefined']);
  });
});

test('a list of findings ends although no document can be decoded', async () => {
  let reads = 0;
  const page = Array.from({ length: 5 }, (_, at) => ({ id: `run_${at}`, data: () => ({}) }));
  const query = {
    orderBy: () => query,
    limit: () => query,
    startAfter: () => query,
    get: async () => {
      reads += 1;
      if (reads > 100) throw new Error('endless');
      return { docs: page };
    },
  };
  const db = { collection: () => query } as unknown as Firestore;
  expect(await new FirestoreFindingStore(db).list(page.length)).toEqual([]);
  expect(reads).toBe(10);
});
