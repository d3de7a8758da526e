import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { Fatal } from '../../../packages/cairn/src/core/errors.ts';
import {
  type Capability,
  defineBinding,
  defineCapability,
} from '../../../packages/cairn/src/engine/define/capability.ts';
import { MAX_STATE_BYTES } from '../../../packages/cairn/src/engine/define/flow/loop-step.ts';
import type { StepFactory } from '../../../packages/cairn/src/engine/define/types.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { createTestRuntime } from '../../../packages/cairn/src/testing/index.ts';
import { metered, writesOf } from '../../support/metered-store.ts';
import { mortal } from '../../support/mortal.ts';
import { assertStored } from '../../support/soundness.ts';
import { driven } from '../../support/successors.ts';
import { World } from '../../support/world.ts';

const input = z.object({ upTo: z.number() });
type Input = z.infer<typeof input>;
type Looping = Parameters<StepFactory<Input>['loop']>[1];

/** Counts turns from 0. */
const counting = {
  state: () => 0,
  while: ({ state, input }: { readonly state: number; readonly input: Input }) => state < input.upTo,
  max: 100,
  body: ({ state }: { readonly state: number }): number => state + 1,
};

function workflowOf(options: object) {
  return defineWorkflow({
    type: 'w',
    planVersion: 1,
    input,
    steps: (step) => ({ out: step.loop('main', options as unknown as Looping) }),
  });
}

async function started(options: object, upTo = 3, more: object = {}) {
  const runtime = createTestRuntime({ workflows: [workflowOf({ ...counting, ...options })], ...more });
  const run = await runtime.start('w', { upTo });
  return { runtime, run };
}

async function ended(...args: Parameters<typeof started>) {
  const { runtime, run } = await started(...args);
  await runtime.runToEnd(run);
  return { runtime, run };
}

describe('a loop', () => {
  test('passes its state from turn to turn, each its own execution, and outputs the last state', async () => {
    const { run } = await ended({});
    expect(await run.result()).toEqual({ out: 3 });
    expect(run.steps().map(({ id, kind, status }) => [id, kind, status])).toEqual([
      ['main', 'flow', 'succeeded'],
      ['main[turn]', 'step', 'succeeded'],
      ['main[turn.2]', 'step', 'succeeded'],
      ['main[turn.3]', 'step', 'succeeded'],
    ]);
  });

  test('without a turn outputs its first state', async () => {
    const { run } = await ended({}, 0);
    expect(await run.result()).toEqual({ out: 0 });
    expect(run.calls('main')).toBe(0);
  });

  test('passes the turn to its functions, and the needs to its body', async () => {
    const workflow = defineWorkflow({
      type: 'w',
      planVersion: 1,
      input,
      steps: (step) => {
        const word = step('word', () => 'a');
        const out = step.loop('main', {
          needs: { word },
          state: ({ word, input }) => ({ text: `${word}${input.upTo}`, turns: [0] }),
          while: ({ state, turn, word }) => state.text.startsWith(word) && turn < 2,
          max: 9,
          pause: ({ turn, state }) => `${turn + state.turns.length}h`,
          body: ({ state, turn, word, attempt }) => ({
            text: `${state.text}${word}${attempt}`,
            turns: [...state.turns, turn],
          }),
        });
        return { out };
      },
    });
    const runtime = createTestRuntime({ workflows: [workflow] });
    const run = await runtime.start('w', { upTo: 7 });
    await runtime.runToEnd(run);
    expect(await run.result()).toEqual({ out: { text: 'a7a1a1', turns: [0, 1, 2] } });
  });

  test('rests between two turns without a worker, and continues after the last one', async () => {
    const { runtime, run } = await started({ pause: '12h' });
    await runtime.settle();
    expect(run.status()).toBe('waiting_external');
    expect(run.state().lease).toBeUndefined();
    const before = runtime.now();
    expect(await runtime.runToEnd(run)).toBe('completed');
    expect(await run.result()).toEqual({ out: 3 });
    expect(runtime.now() - before).toBeGreaterThanOrEqual(24 * 3_600_000);
    expect(run.steps().map(({ id }) => id)).toEqual([
      'main',
      'main[turn]',
      'main[pause]',
      'main[turn.2]',
      'main[pause.2]',
      'main[turn.3]',
    ]);
    expect(run.calls('main')).toBe(3);
  });

  test('retries a turn by its policy, with the same state', async () => {
    const states: number[] = [];
    const { run } = await ended({
      retry: { maxAttempts: 2 },
      body: ({ state, attempt }: { state: number; attempt: number }) => {
        states.push(state);
        if (attempt === 1) throw new Error('not yet');
        return state + 1;
      },
    });
    expect(await run.result()).toEqual({ out: 3 });
    expect(states).toEqual([0, 0, 1, 1, 2, 2]);
  });

  test('makes its external calls once for each turn', async () => {
    const keys = new Set<string>();
    const send = defineCapability({
      id: 'post.send',
      sideEffects: 'external_action',
      idempotency: 'required',
      request: z.object({ page: z.number() }),
      response: z.object({ ok: z.boolean() }),
    });
    const binding = defineBinding(send, {
      id: 'post-stand-in',
      call: async (_, { idempotencyKey }) => {
        keys.add(idempotencyKey);
        return { ok: true };
      },
    });
    type Perform = (capability: Capability, request: unknown) => Promise<unknown>;
    const body = async ({ state, perform }: { state: number; perform: Perform }) => {
      await perform(send, { page: state });
      return state + 1;
    };
    const { runtime, run } = await started({ uses: [send], body }, 3, { bindings: [binding] });
    runtime.crashAfter('main[turn.2]');
    await runtime.runToEnd(run);
    expect(await run.result()).toEqual({ out: 3 });
    expect(keys.size).toBe(3);
  });

  test('that is not done after its last turn fails with the limit it reached', async () => {
    const { run } = await ended({ max: 2 });
    expect(run.status()).toBe('failed');
    expect(run.error()).toMatchObject({
      code: 'LOOP_LIMIT_REACHED',
      stepId: 'main',
      message: "the loop 'main' is not over after its 2 turns ('max')",
    });
  });

  test('that needs exactly its limit completes', async () => {
    const { run } = await ended({ max: 3 });
    expect(await run.result()).toEqual({ out: 3 });
  });

  test('that reached its limit continues in a successor with a higher one, and repeats no turn', async () => {
    let turns = 0;
    const options = {
      ...counting,
      max: 2,
      body: ({ state }: { state: number }) => {
        turns += 1;
        return state + 1;
      },
    };
    const world = new World({ workflows: [workflowOf(options)] });
    const runId = await world.start('w', { upTo: 3 });
    await world.run();
    expect(world.stateOf(runId).error?.code).toBe('LOOP_LIMIT_REACHED');
    options.max = 5;
    const resumed = await driven(world, 'resume', runId);
    expect(resumed).toMatchObject({ status: 'completed', result: { text: '{"out":3}' } });
    expect(turns).toBe(3);
  });

  test.each([
    [
      'a state that is too large',
      () => 'x'.repeat(MAX_STATE_BYTES),
      'PAYLOAD_TOO_LARGE',
      `the state of the loop 'main' after turn 1 has ${MAX_STATE_BYTES + 2} bytes; the maximum is ${MAX_STATE_BYTES}`,
    ],
    [
      'a state that is no JSON',
      () => new Map(),
      'INVALID_INPUT',
      "the state of the loop 'main' after turn 1 is",
    ],
    [
      'a turn that fails',
      () => {
        throw new Fatal('broken');
      },
      'STEP_FAILED',
      'broken',
    ],
  ])('fails for %s', async (_, body, code, message) => {
    const { run } = await ended({ body });
    expect(run.error()).toMatchObject({ code, stepId: 'main' });
    expect(run.error()?.message).toContain(message);
    expect(run.calls('main')).toBe(1);
  });

  test.each([
    ['its first state', { state: () => 'none' }, 'STEP_OUTPUT_INVALID', 0],
    ['that of a turn', { body: () => 'none' }, 'STEP_OUTPUT_INVALID', 1],
  ])('checks %s by its schema', async (_, options, code, calls) => {
    const { run } = await ended({ output: z.number(), ...options });
    expect(run.error()).toMatchObject({ code, stepId: 'main' });
    expect(run.calls('main')).toBe(calls);
  });

  test('fails where its condition returns no boolean', async () => {
    const { run } = await ended({ while: async () => false });
    expect(run.error()?.message).toBe("'while' of the loop 'main' must return true or false, not a promise");
  });

  test('outputs the value of onFailure, and undoes its turns in reverse order when the run fails', async () => {
    const kept = await ended({ max: 1, onFailure: { degradeTo: -1 } });
    expect(await kept.run.result()).toEqual({ out: -1 });
    const undone: unknown[] = [];
    const { run } = await ended({
      max: 2,
      compensate: ({ output }: { output: unknown }) => void undone.push(output),
    });
    expect(run.status()).toBe('failed');
    expect(undone).toEqual([2, 1]);
    expect(run.compensations().map(({ stepId }) => stepId)).toEqual(['main[turn.2]', 'main[turn]']);
  });

  test('undoes a turn with the retries of its turns', async () => {
    let attempts = 0;
    const undo = () => {
      attempts += 1;
      throw new Error('down');
    };
    const { run } = await ended({ max: 1, retry: { maxAttempts: 4, initialMs: 1 }, compensate: undo });
    expect(run.compensations().map(({ outcome }) => outcome)).toEqual(['failed']);
    expect(attempts).toBe(4);
  });

  test('continues after its last turn whatever its pauses were', async () => {
    const options: Record<string, unknown> = { ...counting, pause: '12h' };
    const runtime = createTestRuntime({ workflows: [workflowOf(options)] });
    const run = await runtime.start('w', { upTo: 3 });
    await runtime.settle();
    delete options.pause;
    expect(await runtime.runToEnd(run)).toBe('completed');
    expect(await run.result()).toEqual({ out: 3 });
  });
});

describe('a loop of a thousand turns', () => {
  const LENGTH = 1_000;

  test('costs 3 writes and no read a turn, and resumes at its turn after a crash with one checkpoint', async () => {
    let isDead = false;
    let bodies = 0;
    const workflow = workflowOf({
      ...counting,
      max: LENGTH,
      body: ({ state }: { state: number }) => {
        bodies += 1;
        if (state !== LENGTH - 1 || isDead) return state + 1;
        isDead = true;
        return new Promise<number>(() => {});
      },
    });
    const world = new World({ workflows: [workflow] });
    const { deps, checkpoints, commitOf, reads } = metered(world);
    const runId = await world.start('w', { upTo: LENGTH });
    const first = mortal(deps, 1);
    await world.run(() => isDead, first.deps);
    first.kill();
    for (const turn of [10, LENGTH - 1]) {
      const commit = commitOf(`main[turn.${turn}]`);
      expect([commit.steps.length, writesOf(commit)]).toEqual([1, 3]);
    }
    expect(reads()).toEqual(['load']);

    await world.run(undefined, deps);
    expect(assertStored(world.db, runId)).toMatchObject({
      status: 'completed',
      result: { text: `{"out":${LENGTH}}` },
    });
    expect(bodies).toBe(LENGTH + 1);
    expect(checkpoints).toHaveLength(1);
  });
});
