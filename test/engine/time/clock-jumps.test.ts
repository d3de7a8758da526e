import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { verifyChain } from '../../../packages/cairn/src/core/run/chain.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import type { EngineDeps } from '../../../packages/cairn/src/engine/deps.ts';
import { pause } from '../../../packages/cairn/src/ports/clock.ts';
import { intercept } from '../../support/intercept.ts';
import { World } from '../../support/world.ts';

const HOUR = 3_600_000;

interface Work {
  readonly idempotent: boolean;
  readonly stepMs: number;
  readonly onRun: () => void;
}

function working(world: () => World, { idempotent, stepMs, onRun }: Work) {
  return defineWorkflow({
    type: 'working',
    planVersion: 1,
    input: z.object({}),
    steps(step) {
      const before = step('before', () => 1);
      const work = step('work', { needs: { before }, idempotent }, async () => {
        onRun();
        await pause(world().clock, stepMs);
        return 'done';
      });
      return { after: step('after', { needs: { work } }, () => 2) };
    },
  });
}

const nap = defineWorkflow({
  type: 'nap',
  planVersion: 1,
  input: z.object({}),
  steps(step) {
    const nap = step.sleep('nap', { for: '6h' });
    return { after: step('after', { needs: { nap } }, () => 'awake') };
  },
});

/** A process with its own clock, which the test sets. Its timers continue, like those of a real clock. */
function processIn({ deps }: World): { deps: EngineDeps; jump(ms: number): void } {
  let offset = 0;
  const { clock } = deps;
  const own = { now: () => clock.now() + offset, timer: clock.timer.bind(clock) };
  return {
    deps: { ...deps, clock: own },
    jump: (ms) => {
      offset += ms;
    },
  };
}

async function expectSound(world: World, runId: string): Promise<void> {
  const events = await world.store.readEvents(runId, 0, 1_000);
  expect(verifyChain(runId, events)).toBeUndefined();
  const times = events.map(({ at }) => at);
  expect(times).toEqual([...times].sort((a, b) => a - b));
  for (const { data } of events) {
    if ('durationMs' in data) expect(data.durationMs).toBeGreaterThanOrEqual(0);
  }
  const { durationMs } = await world.folded(runId);
  expect(durationMs).toBeGreaterThanOrEqual(0);
}

describe.each([
  ['back', -HOUR],
  ['forward', HOUR],
])('the clock of a process that jumps an hour %s', (_direction, jumpMs) => {
  test('while its run sleeps wakes it neither early nor late', async () => {
    const world = new World({ workflows: [nap] });
    const began = world.clock.now();
    const runId = await world.start('nap');
    const { deps, jump } = processIn(world);
    await world.run(() => world.queue.pending.some(({ at }) => at !== undefined), deps);
    jump(jumpMs);
    await world.run(
      () => [...world.db.runs.values()].every(({ snapshot }) => snapshot.status === 'completed'),
      deps,
    );
    expect((await world.folded(runId)).status).toBe('completed');
    expect(world.clock.now() - began - 6 * HOUR).toBeGreaterThanOrEqual(0);
    expect(world.clock.now() - began - 6 * HOUR).toBeLessThan(5_000);
    await expectSound(world, runId);
  });

  test('between the claim and the first append of its drive keeps the times of the journal in order', async () => {
    const work = { idempotent: true, stepMs: 2_000, onRun: () => undefined };
    const world: World = new World({ workflows: [working(() => world, work)] });
    const runId = await world.start('working');
    const { deps, jump } = processIn(world);
    let jumped = false;
    const store = intercept(deps.store, async ({ method }, proceed) => {
      const result = await proceed();
      if (method === 'commit' && !jumped) jump(jumpMs);
      jumped ||= method === 'commit';
      return result;
    });
    await world.run(undefined, { ...deps, store });
    expect((await world.folded(runId)).status).toBe('completed');
    await expectSound(world, runId);
  });
});

test.each([
  ['back', -HOUR, 'may run again', true],
  ['back', -HOUR, 'must not run twice', false],
  ['forward', HOUR, 'may run again', true],
  ['forward', HOUR, 'must not run twice', false],
])(
  'a jump %s while it drives (%i ms) loses no lease: a step that %s runs once',
  async (_direction, jumpMs, _name, idempotent) => {
    let runs = 0;
    const work = {
      idempotent,
      stepMs: 20_000,
      onRun: () => {
        runs += 1;
      },
    };
    const world: World = new World({ workflows: [working(() => world, work)] });
    const began = world.clock.now();
    const runId = await world.start('working');
    const { deps, jump } = processIn(world);
    await world.run(() => runs === 1 && world.clock.now() >= began + 4_000, deps);
    jump(jumpMs);
    // The scan is ticked by another process, whose clock is right.
    await world.run();
    expect(runs).toBe(1);
    expect(await world.eventTypes(runId)).not.toContain('orphan_detected');
    expect((await world.folded(runId)).status).toBe('completed');
    await expectSound(world, runId);
  },
);
