import { describe, expect, test } from '@jest/globals';
import {
  MAX_UNREAD_BYTES,
  MAX_UNREAD_SIGNALS,
} from '../../../packages/cairn/src/core/run/data/unread-signals.ts';
import { WorkflowRegistry } from '../../../packages/cairn/src/engine/define/registry.ts';
import { appendToRun } from '../../../packages/cairn/src/operations/append-to-run.ts';
import {
  MAX_EARLY_SIGNAL_BYTES,
  type SignalRequest,
  signalRun,
} from '../../../packages/cairn/src/operations/events/signal-run.ts';
import { assertStored } from '../../support/soundness.ts';
import { announce, end, world as newWorld, PLACE, waitingRun } from '../../support/waiting-runs.ts';
import type { World } from '../../support/world.ts';

function signal(
  world: World,
  runId: string,
  signalId: string,
  more: Partial<SignalRequest> = {},
  deps = world.deps,
) {
  return signalRun(deps, {
    runId,
    tenantId: 't1',
    name: PLACE.event,
    data: { build: 7 },
    signalId,
    actor: 'c.me',
    ...more,
  });
}

/** A run that waits without a registration, because a signal needs no mailbox. */
async function suspendedRun(world: World, steps?: readonly string[]): Promise<string> {
  const runId = await waitingRun(world, steps);
  await announce(world.deps, runId, steps?.[0]);
  return runId;
}

describe('a signal to a run in which a step waits for it', () => {
  test('completes the step in one commit with its outcome, and wakes the run', async () => {
    const world = newWorld();
    const runId = await suspendedRun(world);
    expect(await signal(world, runId, 's1')).toEqual({ runId, signalId: 's1', outcome: 'taken_in' });
    const types = await world.eventTypes(runId);
    expect(types.slice(-3)).toEqual(['wait_resolved', 'step_succeeded', 'run_resumed']);
    expect(assertStored(world.db, runId, 0)).toMatchObject({
      status: 'running',
      unread: [],
      received: ['s1'],
    });
    expect(world.queue.pending.map((task) => task.runId)).toEqual([runId]);
  });

  test('is delivered to one step only: the longest-waiting one that accepts it', async () => {
    const world = newWorld();
    const runId = await suspendedRun(world, ['strict', 'any']);
    await signal(world, runId, 's1');
    expect((await world.folded(runId)).waits.map(({ id }) => id)).toEqual(['any.1']);
    const other = await suspendedRun(world, ['strict', 'any']);
    await signal(world, other, 's1', { data: 'no build' });
    expect((await world.folded(other)).waits.map(({ id }) => id)).toEqual(['strict.1']);
  });

  test('may name the key of the step or omit it; another key is for another step', async () => {
    const world = newWorld();
    const runId = await suspendedRun(world);
    expect(await signal(world, runId, 's1', { key: 'other' })).toMatchObject({ outcome: 'kept' });
    expect(await signal(world, runId, 's2', { name: 'other' })).toMatchObject({ outcome: 'kept' });
    expect(await signal(world, runId, 's3', { key: PLACE.key })).toMatchObject({ outcome: 'taken_in' });
    expect((await world.folded(runId)).unread.map(({ signalId }) => signalId)).toEqual(['s1', 's2']);
  });

  test('that the step refuses names the step, which keeps waiting', async () => {
    const world = newWorld();
    const runId = await suspendedRun(world, ['strict']);
    const { head } = await world.folded(runId);
    await expect(signal(world, runId, 's1', { data: {} })).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      stepId: 'strict',
      field: 'data',
    });
    expect((await world.folded(runId)).head).toBe(head);
  });

  test('may carry up to 256 KiB', async () => {
    const world = newWorld();
    const runId = await suspendedRun(world);
    const data = 'x'.repeat(256 * 1024 - 2);
    await expect(signal(world, runId, 's1', { data: `${data}x` })).rejects.toMatchObject({
      code: 'PAYLOAD_TOO_LARGE',
    });
    expect(await signal(world, runId, 's1', { data })).toMatchObject({ outcome: 'taken_in' });
  });

  test('is refused while the plan version is not deployed', async () => {
    const world = newWorld();
    const runId = await suspendedRun(world);
    const bare = { ...world.deps, registry: new WorkflowRegistry([]) };
    await expect(signal(world, runId, 's1', {}, bare)).rejects.toMatchObject({
      code: 'PLAN_VERSION_UNAVAILABLE',
    });
  });
});

describe('a signal without a waiting step', () => {
  test('is buffered in the run, and moves no step', async () => {
    const world = newWorld();
    const runId = await suspendedRun(world);
    expect(await signal(world, runId, 's1', { name: 'go', key: 'k' })).toEqual({
      runId,
      signalId: 's1',
      outcome: 'kept',
    });
    const state = assertStored(world.db, runId, 0);
    expect(state).toMatchObject({
      status: 'waiting_external',
      unread: [{ signalId: 's1', name: 'go', key: 'k', payloadText: '{"build":7}' }],
    });
    expect(world.queue.pending).toEqual([]);
  });

  test('may be sent before the run has begun', async () => {
    const world = newWorld();
    const runId = await world.start('waits');
    expect(await signal(world, runId, 's1')).toMatchObject({ outcome: 'kept' });
    expect(await world.folded(runId)).toMatchObject({ status: 'pending', received: ['s1'] });
  });

  test('may have 16 KiB; the refusal of more has advice', async () => {
    const world = newWorld();
    const runId = await world.start('waits');
    const data = 'x'.repeat(MAX_EARLY_SIGNAL_BYTES - 2);
    expect(await signal(world, runId, 's1', { data })).toMatchObject({ outcome: 'kept' });
    await expect(signal(world, runId, 's2', { data: `${data}x` })).rejects.toMatchObject({
      code: 'PAYLOAD_TOO_LARGE',
      httpStatus: 413,
      help: expect.stringContaining('when the run waits for it'),
    });
  });

  test.each([
    ['signals', MAX_UNREAD_SIGNALS, ''],
    ['bytes', MAX_UNREAD_BYTES / MAX_EARLY_SIGNAL_BYTES, 'x'.repeat(MAX_EARLY_SIGNAL_BYTES - 2)],
  ])('is refused once the run has too many %s', async (_, count, data) => {
    const world = newWorld();
    const runId = await world.start('waits');
    for (let i = 0; i < count; i += 1) await signal(world, runId, `s${i}`, { data });
    await expect(signal(world, runId, 'more', { data })).rejects.toMatchObject({ code: 'RATE_LIMITED' });
    expect(await signal(world, runId, 's1', { data })).toMatchObject({ outcome: 'kept' });
    expect((await world.folded(runId)).unread).toHaveLength(count);
  });
});

describe('a signal sent again', () => {
  test.each([
    ['taken in', 'built', 'taken_in'],
    ['kept', 'other', 'kept'],
  ])('that was %s gets the same answer, and adds nothing', async (_, name, outcome) => {
    const world = newWorld();
    const runId = await suspendedRun(world);
    expect(await signal(world, runId, 's1', { name })).toMatchObject({ outcome });
    const { head } = await world.folded(runId);
    expect(await signal(world, runId, 's1', { name })).toMatchObject({ outcome });
    expect((await world.folded(runId)).head).toBe(head);
  });

  test('gets the same answer after the run has ended', async () => {
    const world = newWorld();
    const runId = await suspendedRun(world);
    await signal(world, runId, 's1');
    await end(world.deps, runId);
    expect(await signal(world, runId, 's1')).toMatchObject({ outcome: 'taken_in' });
  });
});

describe('a refused signal', () => {
  test('is one to a run that has ended or is ending', async () => {
    const world = newWorld();
    const ended = await suspendedRun(world);
    await end(world.deps, ended);
    await expect(signal(world, ended, 's1')).rejects.toMatchObject({
      code: 'RUN_TERMINAL_STATE',
      details: { status: 'cancelled' },
    });
    const ending = await suspendedRun(world);
    await appendToRun(world.deps, {
      runId: ending,
      tenantId: 't1',
      decide: () => [{ type: 'cancel_requested', initiator: 'user', data: { stopKind: 'user' } }],
    });
    await expect(signal(world, ending, 's1')).rejects.toMatchObject({ code: 'RUN_TERMINAL_STATE' });
  });

  test('is one to a run of another tenant, which is answered like a missing one', async () => {
    const world = newWorld();
    const runId = await suspendedRun(world);
    const refusals = [
      signal(world, runId, 's1', { tenantId: 't2' }),
      signal(world, `${runId.slice(0, -4)}aaaa`, 's1'),
    ].map((sent) => sent.catch(({ code, message }) => ({ code, message })));
    const [foreign, missing] = await Promise.all(refusals);
    expect(foreign).toEqual(missing);
    expect(foreign).toMatchObject({ code: 'RUN_NOT_FOUND' });
  });

  test.each([
    [{ name: '' }, 'name'],
    [{ key: '' }, 'key'],
    [{ data: Number.NaN }, 'data'],
  ])('is one that is invalid (%j), with the field', async (more, field) => {
    const world = newWorld();
    const runId = await suspendedRun(world);
    await expect(signal(world, runId, 's1', more)).rejects.toMatchObject({ code: 'INVALID_INPUT', field });
  });
});
