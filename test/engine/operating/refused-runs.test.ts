/** Runs that the store refuses to write: they neither fail nor block other runs. */
import { beforeEach, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { childRunId } from '../../../packages/cairn/src/core/encoding/ids.ts';
import type { BufferedEvent } from '../../../packages/cairn/src/core/mailbox/mailbox.ts';
import type { RunEvent } from '../../../packages/cairn/src/core/run/events.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import type { EngineDeps } from '../../../packages/cairn/src/engine/deps.ts';
import { drive } from '../../../packages/cairn/src/engine/drive/drive.ts';
import { changeMailbox } from '../../../packages/cairn/src/engine/mailbox/change.ts';
import { cancelRun } from '../../../packages/cairn/src/operations/cancel-run.ts';
import { otherRuns } from '../../../packages/cairn/src/operations/other-runs.ts';
import type { JournalCommit } from '../../../packages/cairn/src/ports/run-store.ts';
import { StoreRefused } from '../../../packages/cairn/src/ports/store-errors.ts';
import { scan } from '../../../packages/cairn/src/recovery/scan.ts';
import { intercept } from '../../support/intercept.ts';
import { succeed } from '../../support/successors.ts';
import { NEWER, World } from '../../support/world.ts';

const PLACE = { tenantId: 't1', event: 'built', key: 'main' };
const KIDS = ['first', 'second'] as const;

const waiting = defineWorkflow({
  type: 'waiting',
  planVersion: 1,
  input: z.object({}),
  steps: (step) => ({ built: step.event('built', { event: PLACE.event, key: () => PLACE.key }) }),
});

const kid = defineWorkflow({
  type: 'kid',
  planVersion: 1,
  input: z.object({}),
  steps: (step) => ({ night: step.sleep('night', { for: '8h' }) }),
});

const family = defineWorkflow({
  type: 'family',
  planVersion: 1,
  input: z.object({}),
  steps: (step) =>
    Object.fromEntries(
      KIDS.map((id) => [id, step.child(id, { workflow: kid, input: () => ({}), onParentEnd: 'wait' })]),
    ),
});

const undone: string[] = [];

/** Waits for a child after a step that must be undone when it fails. */
const booking = defineWorkflow({
  type: 'booking',
  planVersion: 1,
  input: z.object({}),
  steps: (step) => {
    const book = step('book', { compensate: ({ runId }) => void undone.push(runId) }, () => ({}));
    return { book, night: step.child('night', { workflow: kid, needs: { book }, input: () => ({}) }) };
  },
});

/** Waits for two children that end at the same time. */
const tour = defineWorkflow({
  type: 'tour',
  planVersion: 1,
  input: z.object({}),
  steps: (step) => {
    const book = step('book', { compensate: ({ runId }) => void undone.push(runId) }, () => ({}));
    const child = (id: string) => step.child(id, { workflow: kid, needs: { book }, input: () => ({}) });
    return { book, ...Object.fromEntries(KIDS.map((id) => [id, child(id)])) };
  },
});

const outing = defineWorkflow({
  type: 'outing',
  planVersion: 1,
  input: z.object({}),
  steps: (step) => ({ night: step.child('night', { workflow: kid, input: () => ({}) }) }),
});

class Scene extends World {
  /** The run whose commits the store refuses. */
  refused: string | undefined;
  /** True for those of its commits that are refused; default: all. */
  refuses: (commit: JournalCommit) => boolean = () => true;
  readonly hostile: EngineDeps;

  constructor() {
    super({ workflows: [waiting, kid, family, booking, tour, outing] });
    const store = intercept(this.deps.store, ({ method, args }, proceed) => {
      const commit = method === 'commit' ? (args[0] as JournalCommit) : undefined;
      const isRefused = commit !== undefined && commit.runId === this.refused && this.refuses(commit);
      const cause = new Error('the document is too large');
      return isRefused
        ? Promise.reject(new StoreRefused('commit', cause, { code: 3, reason: 'request' }))
        : proceed();
    });
    const deps = { ...this.deps, store };
    this.hostile = { ...deps, otherRuns: otherRuns({ ...deps, records: this.records }) };
  }

  async waits(type: string): Promise<string> {
    const runId = await this.start(type);
    await this.run(() => this.stateOf(runId).status === 'waiting_external');
    return runId;
  }

  /** Puts into the mailbox an event that a dead process left. */
  async leave(event: Pick<BufferedEvent, 'takenBy' | 'passing'>): Promise<void> {
    const at = this.clock.now();
    const times = { at, expiresAt: at + 3_600_000 };
    const left = { eventId: 'e1', dataText: '"green"', deliveredTo: [], ...times, ...event };
    await changeMailbox(this.deps, PLACE, (seen) => {
      const { waiting: listed = [], delivered = [] } = seen ?? {};
      return { next: { ...PLACE, waiting: listed, delivered, buffered: [left] }, result: undefined };
    });
  }

  async family(): Promise<{ readonly parent: string; readonly kids: readonly [string, string] }> {
    const parent = await this.start('family');
    const kids = [childRunId(parent, 'first.1'), childRunId(parent, 'second.1')] as const;
    await this.run(() => kids.every((id) => this.db.runs.get(id)?.snapshot.status === 'waiting_external'));
    return { parent, kids };
  }
}

describe('an event that another run holds, which', () => {
  test.each(['cannot be written', 'was written by a newer version'])(
    '%s, blocks nothing else of a run, and is requested again',
    async (why) => {
      const world = new Scene();
      const holder = await world.waits('waiting');
      const [wait] = world.stateOf(holder).waits;
      await world.leave({ takenBy: { runId: holder, waitId: wait?.id ?? '' } });
      if (why === 'cannot be written') world.refused = holder;
      const before = world.writtenBy(holder, why === 'cannot be written' ? 1 : NEWER);
      const runId = await world.start('waiting');
      expect(await drive(world.hostile, { runId })).toBe('released');
      expect(world.stateOf(runId).error).toBeUndefined();
      expect(world.stateOf(runId).waits[0]?.announced).not.toBe(true);
      world.refused = undefined;
      world.writtenBy(holder, before);
      await world.run(
        () =>
          world.stateOf(runId).waits[0]?.announced === true && world.stateOf(holder).status === 'completed',
      );
    },
  );
});

test.each(['cannot be written', 'was written by a newer version'])(
  'a run gets a buffered event although another that waits for it %s',
  async (why) => {
    const world = new Scene();
    const runId = await world.waits('waiting');
    const other = await world.waits('waiting');
    await world.leave({ passing: 'sender' });
    const before = world.writtenBy(other, why === 'cannot be written' ? 1 : NEWER);
    world.refused = why === 'cannot be written' ? other : undefined;
    await drive(world.hostile, { runId });
    expect(world.stateOf(runId)).toMatchObject({ status: 'completed' });
    world.refused = undefined;
    world.writtenBy(other, before);
    await drive(world.deps, { runId: other });
    expect(world.stateOf(other)).toMatchObject({ status: 'completed' });
  },
);

test('a buffered event that a run itself cannot store ends that run', async () => {
  const world = new Scene();
  const runId = await world.waits('waiting');
  await world.leave({ passing: 'sender' });
  world.refused = runId;
  await expect(drive(world.hostile, { runId })).rejects.toBeInstanceOf(StoreRefused);
  expect([...world.db.findings.keys()]).toEqual([runId]);
});

test('a run whose child cannot be cancelled is not failed, and its other child is cancelled', async () => {
  const world = new Scene();
  const { parent, kids } = await world.family();
  const [first, second] = kids;
  await cancelRun(world.deps, { runId: parent, tenantId: 't1', stopKind: 'user' });
  world.refused = first;
  expect(await drive(world.hostile, { runId: parent })).toBe('failed');
  expect(world.stateOf(parent).status).toBe('running');
  expect(world.stateOf(parent).error).toBeUndefined();
  expect(world.stateOf(second).status).toBe('cancelled');
  expect([...world.db.findings.values()]).toMatchObject([{ runId: first, reason: 'request' }]);
  world.refused = undefined;
  await world.run();
  expect([parent, first].map((id) => world.stateOf(id).status)).toEqual(['cancelled', 'cancelled']);
});

test('a child whose parent cannot be written notifies it when the queue repeats its task', async () => {
  const world = new Scene();
  const { parent, kids } = await world.family();
  const [runId] = kids;
  await cancelRun(world.deps, { runId, tenantId: 't1', stopKind: 'user' });
  for (const { id } of world.queue.due(world.clock.now())) world.queue.take(id);
  world.refused = parent;
  await expect(drive(world.hostile, { runId })).rejects.toThrow('the document is too large');
  expect(world.queue.due(world.clock.now())).toEqual([]);
  expect([...world.db.findings.values()]).toMatchObject([{ runId: parent, reason: 'request' }]);
  world.refused = undefined;
  await world.run();
  expect(world.stateOf(parent)).toMatchObject({ status: 'failed', error: { code: 'CHILD_CANCELLED' } });
});

const hasOf = (type: RunEvent['type']) => (commit: JournalCommit) =>
  commit.events.some((event) => event.type === type);

test('a parent that lacks room only for the outcome of its child fails at that step, and its other child ends with it', async () => {
  const world = new Scene();
  const { parent, kids } = await world.family();
  const [first, second] = kids;
  world.refused = parent;
  world.refuses = hasOf('step_succeeded');
  await world.run(() => world.stateOf(first).status === 'completed', world.hostile);
  await world.run(undefined, world.hostile);
  const { status, error } = world.stateOf(parent);
  expect([status, error]).toMatchObject(['failed', { code: 'RUN_UNWRITABLE', stepId: 'first' }]);
  expect(error?.message).toContain(`child run ${first}`);
  expect(error?.message).toContain('the document is too large');
  expect(world.stateOf(second).status).toBe('completed');
  expect(world.db.findings.size).toBe(0);
  expect(kids.map((id) => world.db.runs.get(id)?.wakeAt)).toEqual([undefined, undefined]);
});

test('a parent that can store neither the outcome of its child nor the failure of its step ends with a named error', async () => {
  const world = new Scene();
  const { parent, kids } = await world.family();
  world.refused = parent;
  world.refuses = hasOf('wait_resolved');
  await world.run(undefined, world.hostile);
  expect(world.stateOf(parent)).toMatchObject({ status: 'failed', error: { code: 'RUN_UNWRITABLE' } });
  expect(kids.map((id) => world.db.runs.get(id)?.wakeAt)).toEqual([undefined, undefined]);
});

describe('a run that is ended without a lease, because it cannot be written, is compensated first', () => {
  const failed = {
    status: 'failed',
    error: { code: 'RUN_UNWRITABLE' },
    compensationLog: [{ stepId: 'book' }],
  };

  beforeEach(() => void undone.splice(0));

  test('if it takes no outcome of its child', async () => {
    const world = new Scene();
    const parent = await world.waits('booking');
    world.refused = parent;
    world.refuses = hasOf('wait_resolved');
    await world.run(undefined, world.hostile);
    expect(world.stateOf(parent)).toMatchObject(failed);
    expect(undone).toEqual([parent]);
    expect(world.db.findings.size).toBe(0);
    expect(world.db.runs.get(parent)?.wakeAt).toBeUndefined();
  });

  test('although a second child tells it its end before the compensation begins', async () => {
    const world = new Scene();
    const parent = await world.waits('tour');
    const kids = KIDS.map((id) => childRunId(parent, `${id}.1`));
    world.refused = parent;
    world.refuses = hasOf('wait_resolved');
    await world.run(undefined, world.hostile);
    expect(world.stateOf(parent)).toMatchObject(failed);
    expect(undone).toEqual([parent]);
    expect(world.db.findings.size).toBe(0);
    expect(kids.map((id) => world.db.runs.get(id)?.wakeAt)).toEqual([undefined, undefined]);
  });

  test('if its claim is refused', async () => {
    const world = new Scene();
    const parent = await world.waits('booking');
    world.refused = parent;
    let isRefused = true;
    world.refuses = (commit) => isRefused && hasOf('run_claimed')(commit);
    const child = childRunId(parent, 'night.1');
    await world.run(() => world.stateOf(child).status === 'completed', world.hostile);
    await world.run(() => world.stateOf(parent).compensating, world.hostile);
    isRefused = false;
    await world.run(undefined, world.hostile);
    expect(world.stateOf(parent)).toMatchObject(failed);
    expect(undone).toEqual([parent]);
  });

  test('unless its claim is refused again', async () => {
    const world = new Scene();
    const parent = await world.waits('booking');
    world.refused = parent;
    world.refuses = hasOf('run_claimed');
    await world.run(undefined, world.hostile);
    expect(world.stateOf(parent)).toMatchObject({ ...failed, compensationLog: [] });
    expect(undone).toEqual([]);
  });

  test('if the scan finds its worker dead and the store refuses its recovery', async () => {
    const world = new Scene();
    const parent = await world.start('booking');
    let isDead = false;
    const store = intercept(world.deps.store, ({ method, args }, proceed) => {
      if (isDead) return Promise.reject(new Error('the process was killed'));
      isDead = method === 'commit' && hasOf('step_succeeded')(args[0] as JournalCommit);
      return proceed();
    });
    await expect(drive({ ...world.deps, store }, { runId: parent })).rejects.toThrow();
    expect(world.stateOf(parent).lease).toBeDefined();
    world.clock.jump(10 * 60_000);
    world.refused = parent;
    world.refuses = ({ events }) => events.some(({ type }) => type === 'run_resumed') && events.length === 1;
    await scan(world.hostile);
    expect(world.stateOf(parent)).toMatchObject({ status: 'running', compensating: true });
    await world.run(undefined, world.hostile);
    expect(world.stateOf(parent)).toMatchObject(failed);
    expect(undone).toEqual([parent]);
  });
});

describe('a child that takes no cancellation after its parent has ended', () => {
  async function abandoned() {
    const world = new Scene();
    const parent = await world.waits('booking');
    const child = childRunId(parent, 'night.1');
    world.refused = child;
    return { world, parent, child };
  }

  test('is ended by name', async () => {
    const { world, parent, child } = await abandoned();
    world.refuses = hasOf('cancel_requested');
    await cancelRun(world.hostile, { runId: parent, tenantId: 't1', stopKind: 'user' });
    await world.run(() => world.stateOf(child).status === 'failed', world.hostile);
    expect(world.stateOf(child)).toMatchObject({ error: { code: 'RUN_UNWRITABLE' } });
    await world.run(undefined, world.hostile);
    expect([parent, child].map((id) => world.db.runs.get(id)?.wakeAt)).toEqual([undefined, undefined]);
    expect(world.db.findings.size).toBe(0);
  });

  test('has a finding if nothing can be written to it, and is cancelled once it can', async () => {
    const { world, parent, child } = await abandoned();
    await cancelRun(world.hostile, { runId: parent, tenantId: 't1', stopKind: 'user' });
    await expect(world.run(undefined, world.hostile)).rejects.toThrow('the document is too large');
    expect([...world.db.findings.values()]).toMatchObject([{ runId: child, reason: 'request' }]);
    expect(world.stateOf(parent).status).toBe('cancelled');
    world.refused = undefined;
    await world.run();
    expect(world.stateOf(child).status).toBe('cancelled');
    await scan(world.deps);
    expect(world.db.findings.size).toBe(0);
  });
});

test.each(['the cancellation', 'everything'])(
  'a resumed run does not fail if the child of its source, of which the store refuses %s, has not ended',
  async (what) => {
    const world = new Scene();
    const source = await world.waits('outing');
    const child = childRunId(source, 'night.1');
    await world.run(() => world.stateOf(child).status === 'waiting_external');
    await cancelRun(world.deps, { runId: source, tenantId: 't1', stopKind: 'user' });
    // The source has not cancelled its child yet.
    for (const { id } of world.queue.pending) world.queue.take(id);
    world.refused = child;
    if (what === 'the cancellation') world.refuses = hasOf('cancel_requested');
    const resumed = await succeed(world, 'resume', source);
    await drive(world.hostile, { runId: resumed });
    const { status, error } = world.stateOf(resumed);
    expect(error).toBeUndefined();
    if (what === 'the cancellation') {
      expect(world.stateOf(child)).toMatchObject({ status: 'failed', error: { code: 'RUN_UNWRITABLE' } });
    } else {
      expect(status).toBe('running');
      expect([...world.db.findings.values()]).toMatchObject([{ runId: child, reason: 'request' }]);
      world.refused = undefined;
    }
    await world.run();
    expect(world.stateOf(resumed).status).toBe('completed');
    expect(world.stateOf(child).supersededBy).toBe(childRunId(resumed, 'night.1'));
  },
);

test('an ended run whose duties cannot be recorded is left to the repetition of its task', async () => {
  const world = new Scene();
  const runId = await world.waits('waiting');
  await cancelRun(world.deps, { runId, tenantId: 't1', stopKind: 'user' });
  for (const { id } of world.queue.due(world.clock.now())) world.queue.take(id);
  const refusal = new StoreRefused('touch', new Error('too large'), { code: 3, reason: 'request' });
  const store = intercept(world.deps.store, ({ method }, proceed) =>
    method === 'touch' ? Promise.reject(refusal) : proceed(),
  );
  await expect(drive({ ...world.deps, store }, { runId })).rejects.toBe(refusal);
  expect(world.queue.due(world.clock.now())).toEqual([]);
  expect([...world.db.findings.keys()]).toEqual([runId]);
  await world.run();
  expect(world.db.runs.get(runId)?.wakeAt).toBeUndefined();
  expect(world.db.findings.size).toBe(0);
});
