import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { CHECKPOINT_VALUE_BYTES, MAX_PAYLOAD_BYTES } from '../../packages/cairn/src/core/run/limits.ts';
import { defineWorkflow } from '../../packages/cairn/src/engine/define/workflow.ts';
import { storedText } from '../../packages/cairn/src/engine/stored-text.ts';
import type { JournalCommit } from '../../packages/cairn/src/ports/run-store.ts';
import { OutcomeUnknown } from '../../packages/cairn/src/ports/store-errors.ts';
import { type InterceptedCall, intercept, never, type Proceed } from '../support/intercept.ts';
import { assertStored } from '../support/soundness.ts';
import { World } from '../support/world.ts';

const LARGE = '🪨'.repeat(CHECKPOINT_VALUE_BYTES / 2);

/** A step with a large output, one that needs it, and both of them as the result. */
function largeOutput({ large = LARGE }: { large?: string } = {}) {
  const ran = { make: 0, look: 0 };
  const workflow = defineWorkflow({
    type: 'large',
    planVersion: 1,
    input: z.object({}),
    steps(step) {
      const made = step('make', { retry: { maxAttempts: 1 } }, () => {
        ran.make += 1;
        return { text: large };
      });
      const seen = step('look', { needs: { made } }, ({ made }) => {
        ran.look += 1;
        return made.text === large;
      });
      return { made, seen };
    },
  });
  return { workflow, ran };
}

/** Records commits that refer to a missing payload, which must not happen, and the called methods in order. */
function watched(world: World, around: (call: InterceptedCall, proceed: Proceed) => Promise<unknown>) {
  const calls: string[] = [];
  const dangling: string[] = [];
  const store = intercept(world.store, (call, proceed) => {
    calls.push(call.method);
    if (call.method === 'commit') {
      const { checkpoints } = call.args[0] as JournalCommit;
      const there = [...world.db.payloads.keys()].join(' ');
      for (const { outputRef } of checkpoints)
        if (outputRef && !there.includes(outputRef.sha256)) dangling.push(outputRef.sha256);
    }
    return around(call, proceed);
  });
  return { calls, dangling, deps: { ...world.deps, store } };
}

describe('an output too large for a checkpoint', () => {
  test('is durable before the commit that refers to it, and reaches its dependents and the result', async () => {
    const { workflow } = largeOutput();
    const world = new World({ workflows: [workflow] });
    const { dangling, deps } = watched(world, (_, proceed) => proceed());
    const runId = await world.start('large');
    await world.run(undefined, deps);

    const state = assertStored(world.db, runId);
    expect(state).toMatchObject({ status: 'completed', result: { checkpoint: state.checkpointHead } });
    expect(dangling).toEqual([]);
    const text = await storedText(world.store, runId, state.result ?? { text: '' });
    expect(JSON.parse(text)).toEqual({ made: { text: LARGE }, seen: true });
    expect(JSON.stringify([...(world.db.runs.get(runId)?.checkpoints.values() ?? [])]).length).toBeLessThan(
      10_000,
    );
    expect(JSON.stringify(state).length).toBeLessThan(10_000);
  });

  test('is read again by the drive after one that died', async () => {
    const { workflow, ran } = largeOutput();
    const world = new World({ workflows: [workflow] });
    // Commits after the end of the first step get no answer.
    let commits = 0;
    const { deps } = watched(world, async ({ method }, proceed) => {
      if (method === 'commit') commits += 1;
      return commits > 3 ? never() : proceed();
    });
    const runId = await world.start('large');
    await world.run(() => commits > 3, deps);
    expect((await world.folded(runId)).steps.get('make')).toMatchObject({ phase: 'done' });

    await world.run();
    const state = assertStored(world.db, runId);
    expect(state.status).toBe('completed');
    expect(ran.make).toBe(1);
    expect(JSON.parse(await storedText(world.store, runId, state.result ?? { text: '' })).seen).toBe(true);
  });

  test('is written again when the answer to the first write was lost', async () => {
    const { workflow, ran } = largeOutput();
    const world = new World({ workflows: [workflow] });
    let lost = 0;
    const { calls, dangling, deps } = watched(world, async ({ method }, proceed) => {
      const answer = await proceed();
      if (method !== 'writePayload' || lost === 2) return answer;
      lost += 1;
      throw new OutcomeUnknown('writePayload', 'gone');
    });
    const runId = await world.start('large');
    await world.run(undefined, deps);
    expect(assertStored(world.db, runId)).toMatchObject({ status: 'completed', resumeCount: 0 });
    expect(ran).toEqual({ make: 1, look: 1 });
    expect(calls.filter((method) => method === 'writePayload').length).toBeGreaterThanOrEqual(3);
    expect(dangling).toEqual([]);
  });

  test('fails its step if it exceeds the limit of a run, with nothing written', async () => {
    const { workflow, ran } = largeOutput({ large: 'x'.repeat(MAX_PAYLOAD_BYTES) });
    const world = new World({ workflows: [workflow] });
    const runId = await world.start('large');
    await world.run();
    expect(assertStored(world.db, runId)).toMatchObject({
      status: 'failed',
      error: { code: 'PAYLOAD_TOO_LARGE', stepId: 'make' },
    });
    expect(ran).toEqual({ make: 1, look: 0 });
    expect(world.db.payloads.size).toBe(0);
  });
});

test('a large output that is being stored during a shutdown is waited for', async () => {
  const workflow = defineWorkflow({
    type: 'large',
    planVersion: 1,
    input: z.object({}),
    steps(step) {
      const made = step('make', { idempotent: false }, () => ({ text: LARGE }));
      const end = step('end', { needs: { made } }, () => 'well');
      return { end };
    },
  });
  const world = new World({ workflows: [workflow] });
  const { deps } = watched(world, async ({ method }, proceed) => {
    if (method === 'writePayload') world.shutdown.abort();
    return proceed();
  });
  const runId = await world.start('large');
  await world.run(() => world.shutdown.signal.aborted && !world.db.runs.get(runId)?.snapshot.lease, deps);
  const alive = { ...world.deps, shutdown: new AbortController().signal };
  await world.run(undefined, alive);
  expect(assertStored(world.db, runId)).toMatchObject({
    status: 'completed',
    result: { text: '{"end":"well"}' },
  });
});
