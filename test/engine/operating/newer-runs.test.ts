/** After a roll-back, runs that a newer version of Cairn wrote wait for that version, and block no other run. */
import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { childRunId } from '../../../packages/cairn/src/core/encoding/ids.ts';
import { NewerSchemaError } from '../../../packages/cairn/src/core/run/events.ts';
import { WorkflowRegistry } from '../../../packages/cairn/src/engine/define/registry.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { drive } from '../../../packages/cairn/src/engine/drive/drive.ts';
import { cancelRun } from '../../../packages/cairn/src/operations/cancel-run.ts';
import { otherRuns } from '../../../packages/cairn/src/operations/other-runs.ts';
import { scan } from '../../../packages/cairn/src/recovery/scan.ts';
import { MemoryEventBus } from '../../support/memory/memory-event-bus.ts';
import { NEWER, World } from '../../support/world.ts';

const KIDS = ['first', 'second', 'third'] as const;

const kid = defineWorkflow({
  type: 'kid',
  planVersion: 1,
  input: z.object({}),
  steps: (step) => ({ night: step.sleep('night', { for: '8h' }) }),
});

const familyOf = (onParentEnd: 'cancel' | 'wait') =>
  defineWorkflow({
    type: 'family',
    planVersion: 1,
    input: z.object({}),
    steps: (step) =>
      Object.fromEntries(
        KIDS.map((id) => [id, step.child(id, { workflow: kid, input: () => ({}), onParentEnd })]),
      ),
  });

/** Continues after the end of its only child, whatever the result. */
const above = defineWorkflow({
  type: 'above',
  planVersion: 1,
  input: z.object({}),
  steps: (step) => ({
    family: step.child('family', { workflow: 'family', input: () => ({}), onFailure: { degradeTo: null } }),
  }),
});

class Scene extends World {
  statusesOf(parent: string): string[] {
    return KIDS.map((id) => this.db.runs.get(childRunId(parent, `${id}.1`))?.snapshot.status ?? 'none');
  }
}

/** A dispatch that may fail, because the queue would deliver its task again. */
async function driven(world: Scene, runId: string): Promise<void> {
  try {
    await drive(world.deps, { runId });
  } catch (error) {
    if (!(error instanceof NewerSchemaError)) throw error;
  }
}

describe.each(KIDS)('while the %s child was written by a newer version', (newer) => {
  test.each(['cancel', 'wait'] as const)(
    'the others are cancelled with their parent, and this one once its version is back: %s',
    async (onParentEnd) => {
      const world = new Scene({ workflows: [kid, familyOf(onParentEnd)] });
      const runId = await world.start('family');
      const newerId = childRunId(runId, `${newer}.1`);
      await world.run(() => world.statusesOf(runId).every((status) => status === 'waiting_external'));
      const before = world.writtenBy(newerId, NEWER);
      await cancelRun(world.deps, { runId, tenantId: 't1', stopKind: 'user' });
      await driven(world, runId);
      const cancelled = KIDS.filter((id) => world.stateOf(childRunId(runId, `${id}.1`)).cancellation);
      expect(cancelled).toEqual(KIDS.filter((id) => id !== newer));
      world.writtenBy(newerId, before);
      await world.run();
      expect(world.statusesOf(runId)).toEqual(KIDS.map(() => 'cancelled'));
      expect(world.stateOf(runId).status).toBe('cancelled');
      for (const run of world.db.runs.values()) expect(run.wakeAt).toBeUndefined();
    },
  );
});

test('a run with a child of a newer version tells its parent of its own end', async () => {
  const world = new Scene({ workflows: [kid, familyOf('cancel'), above] });
  const top = await world.start('above');
  const runId = childRunId(top, 'family.1');
  const isAsleep = () => world.statusesOf(runId).every((status) => status === 'waiting_external');
  await world.run(isAsleep);
  const newerId = childRunId(runId, 'first.1');
  const before = world.writtenBy(newerId, NEWER);
  await cancelRun(world.deps, { runId, tenantId: 't1', stopKind: 'user' });
  await driven(world, runId);
  await driven(world, top);
  expect(world.stateOf(top).status).toBe('completed');
  world.writtenBy(newerId, before);
  await world.run();
  expect(world.stateOf(newerId).status).toBe('cancelled');
});

test('a child whose parent is of a newer version begins, and its parent gets the result once that version is back', async () => {
  const world = new Scene({ workflows: [kid, familyOf('cancel')] });
  const runId = await world.start('family');
  await drive(world.deps, { runId });
  expect(world.statusesOf(runId)).toEqual(KIDS.map(() => 'pending'));
  const before = world.writtenBy(runId, NEWER);
  for (const id of KIDS) await driven(world, childRunId(runId, `${id}.1`));
  expect(world.statusesOf(runId)).toEqual(KIDS.map(() => 'waiting_external'));
  world.writtenBy(runId, before);
  await world.run();
  expect(world.stateOf(runId).status).toBe('completed');
});

describe('the last events of a run with duties that wait for another deployment', () => {
  const seqs = (bus: MemoryEventBus, runId: string) =>
    bus.messages(runId).map(({ attributes: { seq } }) => Number(seq));
  const countUp = (head: number) => Array.from({ length: head }, (_, index) => index + 1);

  test.each(KIDS)('are published while its %s child is of a newer version', async (newer) => {
    const bus = new MemoryEventBus();
    const world = new Scene({ workflows: [kid, familyOf('cancel')], bus });
    const runId = await world.start('family');
    await world.run(() => world.statusesOf(runId).every((status) => status === 'waiting_external'));
    const newerId = childRunId(runId, `${newer}.1`);
    const before = world.writtenBy(newerId, NEWER);
    await cancelRun(world.deps, { runId, tenantId: 't1', stopKind: 'user' });
    await driven(world, runId);
    const { head, status } = world.stateOf(runId);
    expect(status).toBe('cancelled');
    expect(seqs(bus, runId)).toEqual(countUp(head));
    expect(world.db.runs.get(runId)?.wakeAt).toBeDefined();
    await driven(world, runId);
    world.writtenBy(newerId, before);
    await world.run();
    expect(world.stateOf(newerId).status).toBe('cancelled');
    expect(seqs(bus, runId)).toEqual(countUp(head));
    expect(world.db.runs.get(runId)?.wakeAt).toBeUndefined();
  });

  test('are due after the time of the last attempt, while the bus is down', async () => {
    const bus = new MemoryEventBus();
    const world = new Scene({ workflows: [kid, familyOf('cancel')], bus });
    const runId = await world.start('family');
    await world.run(() => world.statusesOf(runId).every((status) => status === 'waiting_external'));
    world.writtenBy(childRunId(runId, 'first.1'), NEWER);
    bus.publish = async () => {
      throw new Error('down');
    };
    await cancelRun(world.deps, { runId, tenantId: 't1', stopKind: 'user' });
    for (let tries = 0; tries < 4; tries += 1) {
      await driven(world, runId);
      expect(world.db.runs.get(runId)?.wakeAt).toBeGreaterThan(world.clock.now());
      world.clock.jump(600_000);
    }
  });

  test('are published while the definition of its parent is not deployed', async () => {
    const bus = new MemoryEventBus();
    const world = new Scene({ workflows: [kid, familyOf('wait')], bus });
    const parentId = await world.start('family');
    const runId = childRunId(parentId, 'first.1');
    await world.run(() => world.statusesOf(parentId).every((status) => status === 'waiting_external'));
    const deps = { ...world.deps, registry: new WorkflowRegistry([kid]) };
    const lacking = { ...deps, otherRuns: otherRuns({ ...deps, records: world.records }) };
    await cancelRun(lacking, { runId, tenantId: 't1', stopKind: 'user' });
    await expect(drive(lacking, { runId })).rejects.toMatchObject({ code: 'PLAN_VERSION_UNAVAILABLE' });
    const { head, status } = world.stateOf(runId);
    expect(status).toBe('cancelled');
    expect(seqs(bus, runId)).toEqual(countUp(head));
    await world.run();
    expect(world.stateOf(parentId).status).toBe('failed');
    expect(seqs(bus, runId)).toEqual(countUp(head));
  });
});

test('a finding of a run of a newer version does not prevent the deletion of those of recovered runs', async () => {
  const world = new Scene({ workflows: [kid] });
  const [newer = '', recovered = ''] = [await world.start('kid'), await world.start('kid')].sort();
  for (const runId of [newer, recovered])
    world.db.findings.set(runId, {
      runId,
      tenantId: 't1',
      type: 'kid',
      reason: 'request',
      message: 'too large',
      head: 1,
      since: 0,
      lastAt: 0,
    });
  await world.run(
    () => world.stateOf(recovered).status === 'waiting_external' && world.stateOf(newer).head > 1,
  );
  const before = world.writtenBy(newer, NEWER);
  await scan(world.deps);
  expect([...world.db.findings.keys()]).toEqual([newer]);
  world.writtenBy(newer, before);
  await scan(world.deps);
  expect(world.db.findings.size).toBe(0);
});
