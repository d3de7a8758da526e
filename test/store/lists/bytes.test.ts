import { FieldValue, type Firestore } from '@google-cloud/firestore';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Wait } from '../../../packages/cairn/src/core/run/events.ts';
import type { RunState } from '../../../packages/cairn/src/core/run/state.ts';
import type { ListedRun } from '../../../packages/cairn/src/ports/run-store.ts';
import { encodeNewSnapshot } from '../../../packages/cairn/src/store/codec/snapshot.ts';
import { FirestoreRunStore } from '../../../packages/cairn/src/store/firestore-run-store.ts';
import { FirestoreRunFinder } from '../../../packages/cairn/src/store/lists/firestore-run-finder.ts';
import { Paths } from '../../../packages/cairn/src/store/paths.ts';
import {
  FirestoreRunListWatch,
  POLL_MS,
} from '../../../packages/cairn/src/store/watch/firestore-run-list-watch.ts';
import { VirtualClock } from '../../../packages/cairn/src/testing/world/virtual-clock.ts';
import { type FirestoreServer, startFirestoreServer } from '../../../packages/local-firestore/src/server.ts';
import { beginning, T0 } from '../../conformance/support/run-fixture.ts';
import { questionOf } from '../../core/run/journal-drafts.ts';
import { connect } from '../../local/firestore/support/client.ts';
import { type CountedWire, countedWire } from './counted-wire.ts';

const RUNS = 60;
/** The largest inbox, and many questions. */
const INBOX_BYTES = 250 * 1024;
const WAITS_BYTES = 100 * 1024;
const ENTRY = 'x'.repeat(15 * 1024);
/** Most bytes that a list may read of the stored 20 MiB: 6 KiB per run, half of it for three questions. */
const MAX_BYTES = RUNS * 6 * 1024;
const MANY = { limit: RUNS };
/** Limited, because a request has at most 10 MiB. */
const WRITES_A_BATCH = 20;

let server: FirestoreServer;
let wire: CountedWire;
let db: Firestore;

beforeAll(async () => {
  server = await startFirestoreServer({ storage: { kind: 'memory' } });
  wire = await countedWire(server.host);
  db = connect(wire.host, 'lists');
  for (let from = 0; from < RUNS; from += WRITES_A_BATCH) {
    const batch = db.batch();
    for (let i = from; i < Math.min(from + WRITES_A_BATCH, RUNS); i += 1)
      batch.create(new Paths(db).run(`run_${i}`), encodeNewSnapshot(full(i)));
    await batch.commit();
  }
});
afterAll(async () => {
  await db.terminate();
  await wire.close();
  await server.stop();
});

function full(i: number): RunState {
  const { state } = beginning(`run_${i}`, {
    at: T0 + i,
    identity: { tenantId: 'acme', threadId: 'full', idempotencyKey: 'shared' },
  });
  const signals = Math.floor(INBOX_BYTES / ENTRY.length);
  const unread = Array.from({ length: signals }, (_, j) => ({
    signalId: `s${j}`,
    name: 'paid',
    payloadText: JSON.stringify(ENTRY),
    at: T0,
  }));
  return { ...state, unread, waits: questions(Math.floor(WAITS_BYTES / ENTRY.length)) };
}

function questions(count: number): Wait[] {
  const detailText = JSON.stringify({ question: ENTRY });
  return Array.from({ length: count }, (_, j) =>
    questionOf('gate', { id: `gate.${j}`, openedAt: T0, detailText }),
  );
}

/** Number of bytes received from the store during the work. */
async function bytesOf<T>(work: () => Promise<T>): Promise<{ readonly bytes: number; readonly result: T }> {
  const before = wire.received;
  const result = await work();
  return { bytes: wire.received - before, result };
}

function shown(runs: readonly ListedRun[]) {
  return runs.map(({ state, waits }) => [state.id, waits.count, waits.first.map(({ id }) => id).join()]);
}

const ALL = Array.from({ length: RUNS }, (_, i) => [`run_${RUNS - 1 - i}`, 6, 'gate.0,gate.1,gate.2']);

describe('of sixty runs with many unread signals and many questions', () => {
  test('a list reads a few kilobytes for each run', async () => {
    const { bytes, result } = await bytesOf(() =>
      new FirestoreRunStore(db).listRuns({ tenantId: 'acme' }, MANY),
    );
    expect(shown(result.items)).toEqual(ALL);
    expect(bytes).toBeLessThan(MAX_BYTES);
  });

  test('a search reads no more', async () => {
    const { bytes, result } = await bytesOf(() => new FirestoreRunFinder(db).named('acme', 'full', 20));
    expect(shown(result)).toEqual(ALL.slice(0, 20));
    expect(bytes).toBeLessThan(MAX_BYTES / 3);
  });

  test('a watched list reads the first few runs whole, and then repeats the list', async () => {
    const clock = new VirtualClock(T0);
    const received: (readonly ListedRun[])[] = [];
    let look = () => {};
    const until = (holds: () => boolean) =>
      new Promise<void>((resolve) => {
        look = () => {
          if (holds()) resolve();
        };
        look();
      });
    const onRuns = (runs: readonly ListedRun[]) => {
      received.push(runs);
      look();
    };
    const onError = (error: unknown) => {
      throw error;
    };
    const { bytes, result: stop } = await bytesOf(async () => {
      const watch = new FirestoreRunListWatch(db, clock);
      const ends = watch.watchRuns({ tenantId: 'acme' }, RUNS, { onRuns, onError });
      await until(() => received.length === 1);
      return ends;
    });
    expect(shown(received[0] ?? [])).toEqual(ALL);
    expect(bytes).toBeLessThan(5 * 1024 * 1024);
    await new Paths(db).run('run_59').update({ status: 'running' });
    const again = await bytesOf(async () => {
      while (received.length === 1) {
        clock.fireNext(clock.now() + POLL_MS);
        await new Promise<void>((resolve) => setImmediate(resolve));
      }
    });
    expect(received[1]?.[0]?.state.status).toBe('running');
    expect(again.bytes).toBeLessThan(2 * MAX_BYTES);
    expect(server.listening()).toBe(0);
    stop();
    expect(clock.nextAt).toBeUndefined();
  });

  test('runs that an earlier version wrote last are listed in the same way, with their waits read separately', async () => {
    const batch = db.batch();
    batch.update(new Paths(db).run('run_7'), { listed: FieldValue.delete() });
    batch.update(new Paths(db).run('run_8'), {
      listed: '{"head":0,"steps":{},"waits":{"count":0,"first":[]}}',
    });
    batch.update(new Paths(db).run('run_9'), { listed: FieldValue.delete(), waits: 'no list' });
    await batch.commit();
    const { bytes, result } = await bytesOf(() =>
      new FirestoreRunStore(db).listRuns({ tenantId: 'acme' }, MANY),
    );
    expect(shown(result.items)).toEqual(ALL.filter(([id]) => id !== 'run_9'));
    expect(result.unreadable).toEqual(['run_9']);
    expect(bytes).toBeLessThan(MAX_BYTES + 2 * 128 * 1024);
  });
});
