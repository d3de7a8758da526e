import { type DocumentSnapshot, Firestore, type Transaction } from '@google-cloud/firestore';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { FirestoreIntegrityStore } from '../../packages/cairn/src/store/integrity/firestore-integrity-store.ts';
import { RequestBudget } from '../../packages/cairn/src/store/request-budget.ts';
import { settle, VirtualClock } from '../support/virtual-clock.ts';

const BUDGET_MS = 1_000;

type Send = () => Promise<{ readonly docs: readonly DocumentSnapshot[] }>;

/** A client whose read-only transactions use `send`, and whose rollbacks get no answer. */
function clientOf(send: Send): Firestore {
  const db = new Firestore({ projectId: 'none' });
  const transaction = { get: send } as unknown as Transaction;
  db.runTransaction = (work) => work(transaction).catch(() => new Promise<never>(() => {}));
  return db;
}

/** Reads a run with one read for each wait, which is answered after that time. Resolves with the number of answers. */
async function readSlowly(waits: readonly number[]): Promise<number> {
  const clock = new VirtualClock();
  let sent = 0;
  const store = new FirestoreIntegrityStore(
    clientOf(
      () =>
        new Promise((resolve) => {
          clock.timer(waits[sent] ?? 0, () => resolve({ docs: [] }));
          sent += 1;
        }),
    ),
  );
  let ended = false;
  const read = new RequestBudget(clock, BUDGET_MS)
    .run(() =>
      store.atOneMoment('run_slow', async (reader) => {
        for (const _ of waits) await reader.events({ after: undefined, limit: 1 });
        return sent;
      }),
    )
    .finally(() => {
      ended = true;
    });
  read.catch(() => {});
  for (await settle(); !ended && clock.fireNext(); ) await settle();
  expect(ended).toBe(true);
  return read;
}

test('a check has no time limit while the store answers, and ends at a read without an answer', async () => {
  const answered = fc.integer({ min: 0, max: BUDGET_MS - 1 });
  const silent = fc.integer({ min: BUDGET_MS + 1, max: 3 * BUDGET_MS });
  await fc.assert(
    fc.asyncProperty(fc.array(answered, { maxLength: 8 }), fc.option(silent), async (waits, last) => {
      if (last === null) expect(await readSlowly(waits)).toBe(waits.length);
      else await expect(readSlowly([...waits, last])).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    }),
    { numRuns: 200 },
  );
});
