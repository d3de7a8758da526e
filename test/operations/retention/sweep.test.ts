import { describe, expect, test } from '@jest/globals';
import { DELETION_GRACE_MS } from '../../../packages/cairn/src/core/retention/lineage.ts';
import { around, DAY, type Run, Shelf, WIDE } from './shelf.ts';

async function shelf(...runs: readonly Run[]): Promise<Shelf> {
  const made = new Shelf();
  for (const run of runs) await made.put(run);
  return made;
}

describe('a run at the end of its retention', () => {
  test('is hidden first, and deleted with its documents when nobody can be working on it', async () => {
    const one = await shelf({ runId: 'run_1', effects: 2, hasMemo: true, hasPayload: true });
    expect(await one.tick()).toMatchObject({ marked: 1, deleted: 0 });
    expect([one.marked(), one.documents().get('run_1')]).toEqual([['run_1'], '1/11/2']);
    one.now -= DELETION_GRACE_MS + 1;
    expect(await one.tick()).toMatchObject({ waiting: 1, deleted: 0 });
    expect(await one.tick()).toMatchObject({ deleted: 1 });
    expect([...one.documents()]).toEqual([]);
  });

  test('is kept until that moment, and permanently where its workflow says so', async () => {
    const one = new Shelf();
    const at = one.now - 90 * DAY;
    await one.put({ runId: 'run_1', at: at + 1 });
    await one.put({ runId: 'run_2', at, status: 'failed' });
    await one.put({ runId: 'run_3', type: 'audit' });
    await one.put({ runId: 'run_4', at });
    expect(await one.tick()).toMatchObject({ marked: 1 });
    expect(one.marked()).toEqual(['run_4']);
  });

  test('is not read under the kill switch', async () => {
    const one = await shelf({ runId: 'run_1' });
    one.killSwitch = true;
    expect(await one.tick()).toMatchObject({ off: true, marked: 0 });
    expect(one.marked()).toEqual([]);
  });
});

describe('a run under deletion', () => {
  test('is restored whole if a successor appears that was begun before the mark', async () => {
    const one = await shelf({ runId: 'run_1', effects: 1 });
    const before = one.documents();
    await one.tick();
    await one.put({ runId: 'run_2', rootRunId: 'run_1', status: 'running', at: one.now });
    expect(await one.tick()).toMatchObject({ kept: 1, deleted: 0 });
    expect(one.marked()).toEqual([]);
    expect(one.documents().get('run_1')).toBe(before.get('run_1'));
  });

  test('is restored at once if a run of its lineage is held at that moment', async () => {
    const one = await shelf({ runId: 'run_1' }, { runId: 'run_2', rootRunId: 'run_1' });
    const hold = { by: 'c.ops', at: 0, reason: 'a dispute' };
    const store = around(one.store, {
      mark: async (runId, seen, at) => {
        if (runId === 'run_2' && at !== undefined) await one.store.hold(runId, seen, hold);
        return one.store.mark(runId, seen, at);
      },
    });
    expect(await one.tick(WIDE, one.deps(store))).toMatchObject({ kept: 1, marked: 0 });
    expect(one.marked()).toEqual([]);
    await one.settle();
    expect([...one.documents().keys()]).toEqual(['run_1', 'run_2']);
  });

  test('is still deleted though its workflow now keeps runs for ever', async () => {
    const one = await shelf({ runId: 'run_1', steps: 10 });
    await one.tick();
    expect(await one.tick({ ...WIDE, documents: 5 })).toMatchObject({ unfinished: 1 });
    await one.settle(
      WIDE,
      one.deps(one.store, () => undefined),
    );
    expect([...one.documents()]).toEqual([]);
    expect(one.db.retention.underway).toEqual([]);
  });
});

test('a child is deleted after its parent, and a parent after its children have ended', async () => {
  const one = await shelf(
    { runId: 'run_p', childRunIds: ['run_c', 'run_d'] },
    { runId: 'run_c', parentRunId: 'run_p' },
    { runId: 'run_d', parentRunId: 'run_p', status: 'running' },
  );
  await one.settle();
  expect([...one.documents().keys()]).toEqual(['run_c', 'run_d', 'run_p']);
  const child = one.db.runs.get('run_d');
  const loaded = await one.runs.load('run_d');
  if (!child || !loaded) throw new Error('the child is not there');
  await one.put({ runId: 'run_x', parentRunId: 'run_p' });
  one.db.runs.delete('run_d');
  one.db.runs.set('run_d', {
    ...child,
    snapshot: { ...child.snapshot, status: 'completed', completedAt: 1 },
    wakeAt: undefined,
  });
  const order: string[] = [];
  const store = around(one.store, {
    deleteRun: async (runId, seen) => {
      order.push(runId);
      return one.store.deleteRun(runId, seen);
    },
  });
  await one.settle(WIDE, one.deps(store));
  expect(order[0]).toBe('run_p');
  expect([...one.documents()]).toEqual([]);
});

test('an unreadable run keeps its lineage, and nothing else', async () => {
  const one = await shelf({ runId: 'run_1' }, { runId: 'run_2' }, { runId: 'run_3', rootRunId: 'run_2' });
  const stored = one.db.runs.get('run_3');
  if (stored) stored.snapshot = { ...stored.snapshot, schemaVersion: 99 };
  const reports = await one.settle();
  expect([...one.documents().keys()]).toEqual(['run_2', 'run_3']);
  expect(reports.at(-1)).toMatchObject({ failed: 1 });
});

test('an input without a run is deleted a week after it was written, one with a run stays with it', async () => {
  const one = new Shelf();
  await one.put({ runId: 'run_1', at: one.now, hasPayload: true });
  await one.runs.writePayload('run_0', '"left behind"');
  await one.runs.writePayload('run_2', '"left behind"');
  one.now += 7 * DAY - 1;
  await one.runs.writePayload('run_3', '"a start is under way"');
  expect(await one.tick()).toMatchObject({ orphans: 0 });
  expect(await one.tick({ ...WIDE, owners: 2 })).toMatchObject({ orphans: 1 });
  expect(await one.tick({ ...WIDE, owners: 2 })).toMatchObject({ orphans: 1 });
  expect([...one.documents().keys()]).toEqual(['run_1', 'run_3']);
});
