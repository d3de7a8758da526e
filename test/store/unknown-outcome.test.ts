import { Firestore } from '@google-cloud/firestore';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { OutcomeUnknown } from '../../packages/cairn/src/ports/store-errors.ts';
import { call } from '../../packages/cairn/src/store/call.ts';
import { FirestoreIdempotencyStore } from '../../packages/cairn/src/store/firestore-idempotency-store.ts';
import { FirestoreRunStore } from '../../packages/cairn/src/store/firestore-run-store.ts';
import { beginning, idempotencyRecord, move, succeeded, T0 } from '../conformance/support/run-fixture.ts';

const VERSION = '1700000000.000000001';

/** A client whose requests all fail in the same way, without using the network. */
class FailingFirestore extends Firestore {
  failure: Error = new Error('no failure chosen');
  async request(): Promise<never> {
    throw this.failure;
  }
  async requestStream(): Promise<never> {
    throw this.failure;
  }
}

let db: FailingFirestore;
beforeEach(() => {
  db = new FailingFirestore({ projectId: 'p', host: '127.0.0.1:1', ssl: false });
});
afterEach(() => db.terminate());

/** Calls of every kind that an adapter makes. */
function calls(): readonly [string, () => Promise<unknown>][] {
  const runs = new FirestoreRunStore(db);
  const records = new FirestoreIdempotencyStore(db);
  const { state } = beginning('run_1');
  const replacing = beginning('run_1', { records: [{ record: idempotencyRecord('k'), replaces: VERSION }] });
  return [
    ['start', () => runs.start(beginning('run_1'))],
    ['start that replaces', () => runs.start(replacing)],
    ['commit', () => runs.commit(move(state, [succeeded('size')], { snapshot: true }).commit)],
    ['touch', () => runs.touch({ runId: 'run_1', seen: VERSION, wakeAt: T0 })],
    ['load', () => runs.load('run_1')],
    ['readEvents', () => runs.readEvents('run_1', 0, 1)],
    ['readCheckpoints', () => runs.readCheckpoints('run_1', [1])],
    ['findCheckpoint', () => runs.findCheckpoint('run_1', 1)],
    ['dueRuns', () => runs.dueRuns(T0, 1)],
    ['silentRuns', () => runs.silentRuns({ after: 0, until: T0 }, 1)],
    ['writePayload', () => runs.writePayload('run_1', '"large"')],
    ['readPayload', () => runs.readPayload('run_1', { sha256: 'a', bytes: 1, chunks: 1 })],
    ['deletePayload', () => runs.deletePayload('run_1', { sha256: 'a', bytes: 1, chunks: 1 })],
    ['createMemo', () => runs.createMemo('run_1', { step: 's', revision: 1, name: 'n', text: '1' })],
    ['readMemos', () => runs.readMemos('run_1', 's', 1)],
    ['listMemos', () => runs.listMemos('run_1', { step: 's', revision: 1 }, { limit: 1 })],
    ['listRuns', () => runs.listRuns({ tenantId: 't' }, { limit: 1 })],
    ['create', () => records.create(idempotencyRecord('k'))],
    ['replace', () => records.replace(idempotencyRecord('k'), VERSION)],
    ['read', () => records.read('k')],
  ];
}

function failWith(code: number | string): void {
  db.failure = Object.assign(new Error(`failure ${code}`), { code });
}

describe('a call of the Firestore stores', () => {
  test.each([1, 2, 4, 8, 10, 13, 14, 'ECONNRESET', 'ECONNREFUSED', 'EPIPE'])(
    'that ended with %s may or may not have been applied',
    async (code) => {
      failWith(code);
      for (const [name, send] of calls()) {
        const error = (await send().catch((thrown: unknown) => thrown)) as Error & { code: unknown };
        expect([name, error]).toEqual([name, expect.any(OutcomeUnknown)]);
        expect(error.cause).toMatchObject({ code });
      }
    },
  );

  test.each([3, 7, 11, 12, 16, 'ERR_ASSERTION'])(
    'that ended with %s was definitely not applied',
    async (code) => {
      failWith(code);
      for (const [name, send] of calls()) {
        const error = (await send().catch((thrown: unknown) => thrown)) as Error & { code: unknown };
        expect([name, error.code, error instanceof OutcomeUnknown]).toEqual([name, code, false]);
      }
    },
  );

  test.each<[number, { [name: string]: unknown }]>([
    [5, { 'start that replaces': { kind: 'exists' }, touch: { kind: 'stale' }, replace: { kind: 'stale' } }],
    [
      6,
      {
        start: { kind: 'exists' },
        'start that replaces': { kind: 'exists' },
        commit: { kind: 'exists' },
        create: { kind: 'exists' },
      },
    ],
    [9, { 'start that replaces': { kind: 'exists' }, touch: { kind: 'stale' }, replace: { kind: 'stale' } }],
  ])(
    'that ended with %s is a result where a precondition can cause that, and an error elsewhere',
    async (code, answers) => {
      failWith(code);
      const found = await Promise.all(
        calls().map(async ([name, send]) => [name, await send().catch((thrown) => thrown.code)]),
      );
      expect(Object.fromEntries(found)).toEqual({
        ...Object.fromEntries(calls().map(([name]) => [name, code])),
        ...answers,
      });
    },
  );
});

test('a read in an expired transaction may be repeated', async () => {
  const expired = Object.assign(
    new Error('3: The referenced transaction has expired or is no longer valid.'),
    { code: 3 },
  );
  await expect(call('a check', () => Promise.reject(expired))).rejects.toBeInstanceOf(OutcomeUnknown);
});

test('a version that no document can have is refused before anything is sent', async () => {
  failWith(14);
  const runs = new FirestoreRunStore(db);
  await expect(runs.touch({ runId: 'run_1', seen: 'w1', wakeAt: T0 })).rejects.toThrow(
    /'w1' is not the version/,
  );
});

test('an invalid prefix is refused', () => {
  expect(() => new FirestoreRunStore(db, 'a/b')).toThrow(/not a collection prefix/);
});
