/** Workflows whose runs end, wait, and have children, for comparisons with the API's document. */
import { z } from 'zod';
import { Fatal } from '../../../packages/cairn/src/core/errors.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { echo } from '../installation.ts';

/** Fails after a step with a compensation. */
export const broken = defineWorkflow({
  type: 'broken',
  planVersion: 1,
  input: z.unknown(),
  steps(step) {
    const made = step('make', { compensate: () => {} }, ({ log }) => log('made', { n: 1 }));
    return {
      broke: step('break', { needs: { made } }, () => {
        throw new Fatal('it broke');
      }),
    };
  },
});
export const parent = defineWorkflow({
  type: 'parent',
  planVersion: 1,
  input: z.unknown(),
  steps: (step) => ({
    echoed: step.child('ask', { workflow: echo, input: () => ({ text: 'from above' }) }),
    each: step.map('each', { over: () => ['a', 'b'] }, ({ item }) => item),
  }),
});
export const nightly = defineWorkflow({
  type: 'nightly',
  planVersion: 1,
  input: z.unknown(),
  on: { schedule: [{ id: 'late', cron: '0 3 * * *', input: {} }], github: [{ event: 'push' }] },
  steps: (step) => ({ done: step('do', () => 1) }),
});
