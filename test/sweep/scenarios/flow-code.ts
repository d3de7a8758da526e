/** Workflows of one flow, as the scenarios of flows write them. */
import { z } from 'zod';
import type { Flow } from '../../../packages/cairn/src/engine/define/flow/types.ts';
import type { Workflow } from '../../../packages/cairn/src/engine/define/steps.ts';
import type { StepContext } from '../../../packages/cairn/src/engine/define/types.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import type { Scenario, Stage } from '../scenario.ts';

export const input = z.object({});
export type AnyFlow = Flow<Record<never, never>>;

/** A body that takes its time on the stage. */
export const acting =
  (stage: Stage, operation: string, ms = 0) =>
  async (context: StepContext<Record<never, never>>) => {
    await stage.acts({ ...context, operation }, ms);
    return operation;
  };

/** A body that fails after it has taken its time. */
export const failing =
  (stage: Stage, operation: string, error: Error, ms = 0) =>
  async (context: StepContext<Record<never, never>>): Promise<string> => {
    await stage.acts({ ...context, operation }, ms);
    throw error;
  };

/** A workflow of one flow, of a type that is given later; the code gets it too. */
export const code =
  (run: (flow: AnyFlow, type: string) => Promise<unknown>) =>
  (type: string): Workflow =>
    defineWorkflow({
      type,
      planVersion: 1,
      input,
      run: (flow) => run(flow, type) as Promise<string>,
    });

/** A scenario of one workflow, whose type is the name of the scenario, and of workflows that it calls. */
export const coded = (
  name: string,
  workflow: (stage: Stage) => (type: string) => Workflow,
  {
    called,
    ...more
  }: Pick<Scenario, 'ends'> & Partial<Scenario> & { readonly called?: (stage: Stage) => Workflow },
): Scenario => ({
  name,
  start: { type: name },
  workflows: (stage) => [workflow(stage)(name), ...(called ? [called(stage)] : [])],
  ...more,
});

export const completed = { status: 'completed' } as const;
