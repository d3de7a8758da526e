import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { fullCost } from '../../../packages/cairn/src/core/cost/cost.ts';
import { Fatal } from '../../../packages/cairn/src/core/errors.ts';
import { MAX_TURNS, MAX_TURNS_IN_A_RUN } from '../../../packages/cairn/src/core/flow/parts.ts';
import type { RunState } from '../../../packages/cairn/src/core/run/state.ts';
import type { StepFactory } from '../../../packages/cairn/src/engine/define/types.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { cancelRun } from '../../../packages/cairn/src/operations/cancel-run.ts';
import { assertStored } from '../../support/soundness.ts';
import { driven } from '../../support/successors.ts';
import { World } from '../../support/world.ts';

const LONG = MAX_TURNS_IN_A_RUN + 1;
const input = z.object({ upTo: z.number() });
type Looping = Parameters<StepFactory<z.infer<typeof input>>['loop']>[1];

interface Seen {
  readonly state: number;
  readonly turn: number;
  readonly input: { readonly upTo: number };
}

/** Counts turns from 0, and adds the output of the step before it. */
const counting = {
  state: () => 0,
  while: ({ state, input }: Seen) => state < input.upTo,
  max: LONG,
  body: ({ state }: Seen): number => state + 1,
};

/** @param options passed on as the same object, because a test may change them like a deployment */
function workflowOf(options: object, planVersion = 1) {
  return defineWorkflow({
    type: 'w',
    planVersion,
    input,
    steps: (step) => {
      const before = step('before', () => ({ step: 1 }));
      return { out: step.loop('main', Object.assign(options, { needs: { before } }) as unknown as Looping) };
    },
  });
}

const worldOf = (...options: object[]) =>
  new World({
    workflows: options.map((one, index) => workflowOf({ ...counting, ...one }, index + 1)),
    settings: { turnsOfARun: 3 },
  });

function partsOf(world: World, runId: string): RunState[] {
  const states = [...world.db.runs.keys()].map((id) => world.stateOf(id));
  return states.filter(({ parent }) => parent?.runId === runId).sort((a, b) => a.createdAt - b.createdAt);
}

const turnsOf = ({ steps }: RunState) =>
  [...steps.keys()].filter((key) => key.startsWith('main[turn')).length;

describe('a loop with more turns than one run holds', () => {
  test('continues in child runs of a bounded number of turns, with the same result', async () => {
    const seen: unknown[] = [];
    const world = worldOf({
      body: ({ state, turn, input, before }: Seen & { before: { step: number } }) => {
        seen.push([turn, state, input.upTo]);
        return state + before.step;
      },
    });
    const runId = await world.start('w', { upTo: 11 });
    await world.run();
    expect(assertStored(world.db, runId)).toMatchObject({
      status: 'completed',
      result: { text: '{"out":11}' },
    });
    expect(seen).toEqual(Array.from({ length: 11 }, (_, turn) => [turn + 1, turn, 11]));
    const parts = partsOf(world, runId);
    expect(parts.map(turnsOf)).toEqual([3, 3, 2]);
    for (const { id, type, planVersion, status } of parts) {
      expect([type, planVersion, status]).toEqual(['w.main', 1, 'completed']);
      assertStored(world.db, id);
    }
    expect([...world.stateOf(runId).steps.keys()]).toEqual([
      'before',
      'main',
      'main[turn]',
      'main[turn.2]',
      'main[turn.3]',
      'main[part]',
      'main[part.2]',
      'main[part.3]',
    ]);
  });

  test('stays in its run if it ends there', async () => {
    const world = worldOf({});
    const runId = await world.start('w', { upTo: 3 });
    await world.run();
    expect(world.stateOf(runId).status).toBe('completed');
    expect(partsOf(world, runId)).toEqual([]);
  });

  test('rests between all turns, also between two runs', async () => {
    const world = worldOf({ pause: ({ turn }: Seen) => turn * 60_000 });
    const runId = await world.start('w', { upTo: 8 });
    const before = world.clock.now();
    await world.run();
    expect(world.stateOf(runId).result).toMatchObject({ text: '{"out":8}' });
    const pauses = [1, 2, 3, 4, 5, 6, 7].reduce((sum, turn) => sum + turn, 0);
    expect(world.clock.now() - before).toBeGreaterThanOrEqual(pauses * 60_000);
  });

  test('passes a part only the members of the input that the loop reads', async () => {
    const world = worldOf({ reads: ['upTo'] });
    const runId = await world.start('w', { upTo: 5 });
    await world.run();
    expect(world.stateOf(runId).result).toMatchObject({ text: '{"out":5}' });
    expect(partsOf(world, runId).map((part) => part.input)).toMatchObject([
      { text: '{"input":{"upTo":5},"outputs":{"before":{"step":1}},"state":3,"turn":3}' },
    ]);
  });

  test('fails at its limit with its own error, and continues there in a successor with a higher limit', async () => {
    let turns = 0;
    const options = {
      ...counting,
      body: ({ state }: Seen) => {
        turns += 1;
        return state + 1;
      },
    };
    const world = new World({ workflows: [workflowOf(options)], settings: { turnsOfARun: 2_000 } });
    const runId = await world.start('w', { upTo: LONG + 2 });
    await world.run();
    expect(world.stateOf(runId)).toMatchObject({
      status: 'failed',
      error: {
        code: 'LOOP_LIMIT_REACHED',
        stepId: 'main',
        message: `the loop 'main' is not over after its ${LONG} turns ('max')`,
      },
    });
    options.max = LONG + 5;
    const resumed = await driven(world, 'resume', runId);
    expect(resumed).toMatchObject({ status: 'completed', result: { text: `{"out":${LONG + 2}}` } });
    expect(turns).toBe(LONG + 2);
  });

  test('fails like a child when a turn of a part fails, and resumes at that turn', async () => {
    let isBroken = true;
    let turns = 0;
    const world = worldOf({
      body: ({ state }: Seen) => {
        if (state === 7 && isBroken) throw new Fatal('broken');
        turns += 1;
        return state + 1;
      },
    });
    const runId = await world.start('w', { upTo: 10 });
    await world.run();
    const failed = world.stateOf(runId);
    expect(failed).toMatchObject({ status: 'failed', error: { code: 'CHILD_FAILED', stepId: 'main' } });
    expect(failed.error?.message).toContain('STEP_FAILED: broken');
    isBroken = false;
    const resumed = await driven(world, 'resume', runId);
    expect(resumed).toMatchObject({ status: 'completed', result: { text: '{"out":10}' } });
    expect(turns).toBe(10);
  });

  test('costs 23 writes and 9 reads for each part beside its turns', async () => {
    const all: { reads: number; writes: number }[] = [];
    for (const upTo of [6, 9]) {
      const world = worldOf({});
      const runId = await world.start('w', { upTo });
      await world.run();
      const sum = { reads: 0, writes: 0 };
      for (const id of [runId, ...partsOf(world, runId).map((part) => part.id)]) {
        const { reads, writes } = fullCost((await world.store.load(id))?.metadata.cost);
        sum.reads += reads;
        sum.writes += writes;
      }
      all.push(sum);
    }
    const [one, two] = all;
    const turns = 3 * 3;
    expect({
      writes: (two?.writes ?? 0) - (one?.writes ?? 0) - turns,
      reads: (two?.reads ?? 0) - (one?.reads ?? 0),
    }).toEqual({ writes: 23, reads: 9 });
  });

  test('has parts that cannot be started or listed on their own', () => {
    const { registry } = worldOf({}).deps;
    expect(registry.pinned('w.main', 1)?.type).toBe('w.main');
    expect(registry.pinned('w.before', 1)).toBeUndefined();
    expect(registry.newest('w.main')).toBeUndefined();
    expect(registry.types()).toEqual(['w']);
    expect(registry.partTypes('w')).toEqual(['w.main']);
  });

  test('runs its parts on its own version, though a newer one is deployed', async () => {
    const world = worldOf({}, { body: ({ state }: Seen) => state + 100 });
    const first = world.deps.registry.pinned('w', 1);
    if (!first) throw new Error('no version 1');
    const runId = await world.start('w', { upTo: 5 }, { workflow: first });
    await world.run();
    expect(world.stateOf(runId).result).toMatchObject({ text: '{"out":5}' });
    expect(partsOf(world, runId).map(({ planVersion }) => planVersion)).toEqual([1]);
  });

  test('cancels its part with itself', async () => {
    const world = worldOf({ pause: '12h' });
    const runId = await world.start('w', { upTo: 10 });
    await world.run(() => partsOf(world, runId).some((part) => part.status === 'waiting_external'));
    await cancelRun(world.deps, { runId, tenantId: 't1', stopKind: 'user', actor: 'ann' });
    await world.run();
    expect(world.stateOf(runId).status).toBe('cancelled');
    expect(partsOf(world, runId).map(({ status }) => status)).toEqual(['cancelled']);
  });

  test('continues with its parts when its limit was lowered meanwhile, without counting a turn twice', async () => {
    const options: { max: number } & typeof counting = { ...counting };
    const world = new World({ workflows: [workflowOf(options)], settings: { turnsOfARun: 3 } });
    const runId = await world.start('w', { upTo: 8 });
    await world.run(() => partsOf(world, runId).length === 1);
    options.max = 100;
    await world.run();
    expect(world.stateOf(runId).result).toMatchObject({ text: '{"out":8}' });
    expect(partsOf(world, runId).map(turnsOf)).toEqual([3, 2]);
  });
});

describe('a loop with more turns than one run holds is refused', () => {
  const refusal = (options: object, workflow: object = {}) => {
    try {
      defineWorkflow({
        type: 'w',
        planVersion: 1,
        input,
        ...workflow,
        steps: (step) => ({ out: step.loop('main', { ...counting, ...options } as unknown as Looping) }),
      });
    } catch (error) {
      return error;
    }
    return undefined;
  };

  test.each([
    ['above the maximum of turns', { max: MAX_TURNS + 1 }, {}, `an integer from 1 to ${MAX_TURNS}`],
    [
      'with compensate',
      { compensate: () => {} },
      {},
      `to ${MAX_TURNS_IN_A_RUN}, because a loop with 'compensate'`,
    ],
    ['in a workflow with a budget', {}, { budget: { usd: 1 } }, `'max' is at most ${MAX_TURNS_IN_A_RUN}`],
    ['in a workflow with secret input', {}, { secretInput: ['upTo'] }, 'that people can read'],
  ])('%s', (_, options, workflow, message) => {
    expect(refusal(options, workflow)).toMatchObject({
      code: 'INVALID_INPUT',
      field: 'main',
      message: expect.stringContaining(message),
    });
  });

  test('unless its turns fit its run', () => {
    expect(
      refusal({ max: MAX_TURNS_IN_A_RUN, compensate: () => {} }, { budget: { usd: 1 } }),
    ).toBeUndefined();
  });
});
