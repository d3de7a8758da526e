import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { defineWorkflow } from '../../packages/cairn/src/engine/define/workflow.ts';
import { pause } from '../../packages/cairn/src/ports/clock.ts';
import { OutcomeUnknown } from '../../packages/cairn/src/ports/store-errors.ts';
import { intercept } from '../support/intercept.ts';
import { World } from '../support/world.ts';

/** Reads of a drive that holds the lease; a task that cannot load its run is redelivered. */
const READS = new Set(['readEvents', 'readCheckpoints', 'readMemos', 'createMemo']);

describe('a drive', () => {
  test('survives lost answers to its reads, and keeps its run', async () => {
    const world: World = new World({
      workflows: [
        defineWorkflow({
          type: 'slow',
          planVersion: 1,
          input: z.object({}),
          steps(step) {
            const first = step('first', () => 'noted');
            const nap = step.sleep('nap', { needs: { first }, for: '6h' });
            const slow = step('slow', { needs: { first, nap }, timeout: '2m' }, async ({ first, memo }) => {
              // Long enough for many checks of the drive for events of others.
              await pause(world.clock, 60_000);
              return memo('kept', () => `${first} for long`);
            });
            return { slow };
          },
        }),
      ],
    });
    let reads = 0;
    const store = intercept(world.store, async ({ method }, proceed) => {
      if (!READS.has(method)) return proceed();
      reads += 1;
      if (reads % 2 === 1) throw new OutcomeUnknown(method, 'its answer was lost');
      return proceed();
    });
    const runId = await world.start('slow');
    await world.run(undefined, { ...world.deps, store });
    const state = await world.folded(runId);
    expect(state.status).toBe('completed');
    expect(state.result).toEqual({ text: '{"slow":"noted for long"}' });
    expect(await world.eventTypes(runId)).not.toContain('orphan_detected');
    expect(reads).toBeGreaterThan(40);
  });
});
