import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import type { EngineDeps } from '../../../packages/cairn/src/engine/deps.ts';
import { intercept } from '../../support/intercept.ts';
import { World } from '../../support/world.ts';

const HOUR = 3_600_000;

const nap = defineWorkflow({
  type: 'nap',
  planVersion: 1,
  input: z.object({}),
  steps(step) {
    const pause = step.sleep('pause', { for: '6h' });
    return { after: step('after', { needs: { pause } }, () => 'awake') };
  },
});

/** A process whose clock is off by this much, and the number of its store calls. */
function skewed({ deps }: World, byMs: number): { deps: EngineDeps; calls: () => number } {
  let calls = 0;
  const store = intercept(deps.store, (_call, proceed) => {
    calls += 1;
    return proceed();
  });
  const { clock } = deps;
  const own = { now: () => clock.now() + byMs, timer: clock.timer.bind(clock) };
  return { deps: { ...deps, store, clock: own }, calls: () => calls };
}

describe('a worker whose clock is two minutes', () => {
  test.each([
    ['behind', -120_000],
    ['ahead', 120_000],
  ])(
    "%s wakes a sleeping run at the store's time, without repeated probes before it",
    async (_name, byMs) => {
      const world = new World({ workflows: [nap] });
      const { deps, calls } = skewed(world, byMs);
      const runId = await world.start('nap');
      await world.run(() => isOver(world), deps);
      const { status, durationMs } = await world.folded(runId);
      expect(status).toBe('completed');
      expect(durationMs).toBeGreaterThanOrEqual(6 * HOUR);
      expect(durationMs).toBeLessThan(6 * HOUR + 10_000);
      expect(calls()).toBeLessThan(20);
    },
  );
});

function isOver(world: World): boolean {
  return [...world.db.runs.values()].every(({ snapshot }) => snapshot.status === 'completed');
}
