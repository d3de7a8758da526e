/** The order of the examples with slow bodies, so that its worker can be killed during a step. */
import { setTimeout as delay } from 'node:timers/promises';
import { order } from '../../examples/order/order.ts';
import { pretendedBindings } from '../../examples/order/payments.ts';
import { installWorkflows } from '../../functions/src/shipped.ts';
import type { StepDefinition } from '../../packages/cairn/src/engine/define/steps.ts';

/** Longer than the two seconds after which a run reports a running body. */
const BODY_MS = 3_500;

export * from '../../functions/src/index.ts';

const steps = [...order.steps].map(([id, step]): [string, StepDefinition] => [id, slowed(step)]);
installWorkflows([{ ...order, steps: new Map(steps) }], pretendedBindings);

function slowed(step: StepDefinition): StepDefinition {
  if (!('body' in step)) return step;
  return {
    ...step,
    async body(context) {
      await delay(BODY_MS);
      return step.body(context);
    },
  };
}
