/** The project's own functions over a workflow whose step name comes from the environment, as if its author had renamed it. */
import { z } from 'zod';
import { installWorkflows } from '../../../functions/src/shipped.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';

export { api, drive, driveAlone } from '../../../functions/src/index.ts';

const [name = '', version = '1'] = (process.env.RENAMED ?? '').split('@');

installWorkflows([
  defineWorkflow({
    type: 'order',
    planVersion: Number(version),
    input: z.object({}),
    steps: (step) => ({ done: step(name, () => 1) }),
  }),
]);
