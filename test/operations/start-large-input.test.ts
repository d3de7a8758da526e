import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { CHECKPOINT_VALUE_BYTES, MAX_PAYLOAD_BYTES } from '../../packages/cairn/src/core/run/limits.ts';
import { defineWorkflow } from '../../packages/cairn/src/engine/define/workflow.ts';
import { runInput } from '../../packages/cairn/src/engine/run-input.ts';
import type { StartDeps, StartRequest } from '../../packages/cairn/src/operations/start/request.ts';
import { startRun } from '../../packages/cairn/src/operations/start/start-run.ts';
import { OutcomeUnknown } from '../../packages/cairn/src/ports/store-errors.ts';
import { type InterceptedCall, intercept, type Proceed } from '../support/intercept.ts';
import { assertStored } from '../support/soundness.ts';
import { World } from '../support/world.ts';

const workflow = defineWorkflow({
  type: 'measure',
  planVersion: 1,
  input: z.object({ text: z.string() }),
  steps: (step) => ({ length: step('length', ({ input }) => input.text.length) }),
});

const large = { text: 'x'.repeat(CHECKPOINT_VALUE_BYTES) };

function request(changes: Partial<StartRequest> = {}): StartRequest {
  return {
    tenantId: 't1',
    environment: 'test',
    workflow,
    input: large,
    trigger: { source: 'api' },
    source: 'api',
    key: 'api:c.one:k1',
    requestHash: 'h1',
    ...changes,
  };
}

function setUp(
  around: (call: InterceptedCall, proceed: Proceed) => Promise<unknown> = (_, proceed) => proceed(),
) {
  const world = new World({ workflows: [workflow] });
  const calls: string[] = [];
  const store = intercept(world.store, (call, proceed) => {
    calls.push(call.method);
    return around(call, proceed);
  });
  const deps: StartDeps = { ...world.deps, records: world.records, store };
  return { world, deps, calls };
}

/** Waits for the response to a start, while virtual time passes. */
async function patiently<T>(world: World, started: Promise<T>): Promise<T> {
  let over = false;
  const done = started.finally(() => {
    over = true;
  });
  done.catch(() => undefined);
  while (!over) {
    await new Promise((resolve) => setImmediate(resolve));
    world.clock.fireNext();
  }
  return done;
}

describe('a start with an input too large for a checkpoint', () => {
  test('writes the input before the commit that refers to it, and the run reads it', async () => {
    const { world, deps, calls } = setUp();
    const outcome = await startRun(deps, request());
    expect(outcome.kind).toBe('created');
    expect(calls).toEqual(['writePayload', 'start']);
    const { runId } = outcome as { runId: string };

    const run = world.db.runs.get(runId);
    expect(run?.snapshot.input).toEqual({ checkpoint: 1 });
    expect(JSON.stringify(run).length).toBeLessThan(10_000);
    expect(await runInput(world.store, await world.folded(runId))).toEqual(large);

    await world.run();
    const state = assertStored(world.db, runId);
    expect(state.result).toEqual({ text: `{"length":${large.text.length}}` });
  });

  test('of the maximum size succeeds, and a larger one is refused with nothing written', async () => {
    const { world, deps } = setUp();
    const text = 'x'.repeat(MAX_PAYLOAD_BYTES - '{"text":""}'.length);
    await expect(startRun(deps, request({ input: { text: `${text}x` } }))).rejects.toMatchObject({
      code: 'PAYLOAD_TOO_LARGE',
      field: 'input',
    });
    expect([world.db.runs.size, world.db.payloads.size, world.db.records.size]).toEqual([0, 0, 0]);
    expect((await startRun(deps, request({ input: { text } }))).kind).toBe('created');
    expect([world.db.runs.size, world.db.payloads.size]).toEqual([1, 1]);
  });

  test('that is a repetition is answered without writing its input again', async () => {
    const { world, deps, calls } = setUp();
    const first = await startRun(deps, request());
    const second = await startRun(deps, request());
    expect(second).toEqual({ ...first, kind: 'replayed' });
    expect(calls).toEqual(['writePayload', 'start']);
    expect(world.db.payloads.size).toBe(1);
  });

  test('with a key of another request leaves nothing behind', async () => {
    const { world, deps } = setUp();
    await startRun(deps, request());
    await expect(startRun(deps, request({ requestHash: 'other' }))).rejects.toMatchObject({
      code: 'IDEMPOTENCY_KEY_REUSED',
    });
    expect(world.db.payloads.size).toBe(1);
  });

  test.each(['h1', 'other'])(
    'that loses to a concurrent one deletes its input again (request %s)',
    async (requestHash) => {
      const { world, deps, calls } = setUp();
      const both = await Promise.allSettled([
        startRun(deps, request()),
        startRun(deps, request({ requestHash })),
      ]);
      const kinds = both.map((one) => (one.status === 'fulfilled' ? one.value.kind : one.reason.code));
      expect(kinds).toEqual(['created', requestHash === 'h1' ? 'replayed' : 'IDEMPOTENCY_KEY_REUSED']);
      expect(calls.filter((method) => method === 'writePayload')).toHaveLength(2);
      expect([world.db.runs.size, world.db.payloads.size]).toEqual([1, 1]);
      const [runId = ''] = world.db.runs.keys();
      expect(await runInput(world.store, await world.folded(runId))).toEqual(large);
    },
  );

  test('keeps its input when the answer to its commit was lost', async () => {
    let lost = false;
    const { world, deps, calls } = setUp(async ({ method }, proceed) => {
      const answer = await proceed();
      if (method !== 'start' || lost) return answer;
      lost = true;
      throw new OutcomeUnknown('start', 'gone');
    });
    expect((await patiently(world, startRun(deps, request()))).kind).toBe('created');
    expect(calls).toEqual(['writePayload', 'start', 'start']);
    expect(world.db.payloads.size).toBe(1);
  });

  test('keeps its input while it is unknown whether the run exists', async () => {
    const { world, deps, calls } = setUp(async ({ method }, proceed) => {
      const answer = await proceed();
      if (method === 'start') throw new OutcomeUnknown('start', 'gone');
      return answer;
    });
    await expect(patiently(world, startRun(deps, request()))).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    expect(calls).not.toContain('deletePayload');
    expect([world.db.runs.size, world.db.payloads.size]).toEqual([1, 1]);
  });

  test('creates no run when its input cannot be written', async () => {
    const { world, deps } = setUp(async ({ method }, proceed) => {
      if (method === 'writePayload') throw new Error('no room');
      return proceed();
    });
    await expect(startRun(deps, request())).rejects.toThrow('no room');
    expect([world.db.runs.size, world.db.records.size]).toEqual([0, 0]);
  });

  test('is answered as a repetition although its input could not be deleted', async () => {
    const { deps } = setUp(async ({ method }, proceed) => {
      if (method === 'deletePayload') throw new Error('forbidden');
      return proceed();
    });
    const both = await Promise.all([startRun(deps, request()), startRun(deps, request())]);
    expect(both.map(({ kind }) => kind)).toEqual(['created', 'replayed']);
  });

  test('of a size that fits a checkpoint writes no payload', async () => {
    const { calls, deps, world } = setUp();
    const text = 'x'.repeat(CHECKPOINT_VALUE_BYTES - '{"text":""}'.length);
    await startRun(deps, request({ input: { text } }));
    expect(calls).toEqual(['start']);
    expect(world.db.payloads.size).toBe(0);
  });
});
