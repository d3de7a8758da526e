import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { RetryAt } from '../../../packages/cairn/src/core/errors.ts';
import type { Handle, StepFactory } from '../../../packages/cairn/src/engine/define/types.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { World } from '../../support/world.ts';

const HOUR = 3_600_000;

test.each<[string, (step: StepFactory<object>, world: () => World) => Handle<unknown>]>([
  [
    'a retry that is due later',
    (step, world) =>
      step('rest', () => {
        throw new RetryAt(world().clock.now() + 2 * HOUR, 'later');
      }),
  ],
  ['a sleep that lasts longer', (step) => step.sleep('rest', { for: '2h' })],
  ['an event that does not come', (step) => step.event('rest', { event: 'e', key: () => 'k' })],
  ['a decision that nobody makes', (step) => step.approval('rest', { ask: () => '?' })],
])('%s does not extend the time limit of a run', async (_, rest) => {
  const limited = defineWorkflow({
    type: 'limited',
    planVersion: 1,
    timeout: '1h',
    input: z.object({}),
    steps: (step) => ({ rest: rest(step, () => world) }),
  });
  const world: World = new World({ workflows: [limited] });
  const runId = await world.start('limited');
  await world.run();
  const { status, error, durationMs = 0 } = await world.folded(runId);
  expect([status, error?.code]).toEqual(['failed', 'RUN_TIMEOUT']);
  expect(durationMs).toBeGreaterThanOrEqual(HOUR);
  expect(durationMs).toBeLessThan(HOUR + 5_000);
});
