/** A run of one workflow, from its start to its end, in memory. */
import { z } from 'zod';
import type { WorkflowOptions } from '../../../packages/cairn/src/engine/define/types.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { assertStored } from '../../support/soundness.ts';
import { World } from '../../support/world.ts';

const NOTHING = z.object({});
type Define = Partial<Pick<WorkflowOptions<object>, 'policy' | 'timeout' | 'onDoubt'>>;

export function workflowOf(steps: WorkflowOptions<object>['steps'], more: Define = {}) {
  return defineWorkflow({ type: 'w', planVersion: 1, input: NOTHING, steps, ...more });
}

export async function ran(...args: Parameters<typeof workflowOf>) {
  const world = new World({ workflows: [workflowOf(...args)] });
  const runId = await world.start('w');
  await world.run();
  return { world, runId, state: assertStored(world.db, runId) };
}
