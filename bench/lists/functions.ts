/** Functions whose only workflow sleeps, so that its runs keep the signals sent to them. */
import { z } from 'zod';
import { installWorkflows } from '../../functions/src/shipped.ts';
import type { StepFactory } from '../../packages/cairn/src/engine/define/types.ts';
import { defineWorkflow } from '../../packages/cairn/src/engine/define/workflow.ts';

export * from '../../functions/src/index.ts';

installWorkflows([
  defineWorkflow({
    type: 'asleep',
    planVersion: 1,
    input: z.object({}),
    steps(step: StepFactory<Record<never, never>>) {
      return { night: step.sleep('night', { for: '30d' }) };
    },
  }),
]);
