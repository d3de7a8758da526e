/** A run of one flow in the test kit. */
import { z } from 'zod';
import type { Flow, FlowOptions } from '../../../packages/cairn/src/engine/define/flow/types.ts';
import type { Needs } from '../../../packages/cairn/src/engine/define/types.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { createTestRuntime } from '../../../packages/cairn/src/testing/index.ts';

type Code = (flow: Flow<Record<never, never>>) => Promise<unknown>;
type RuntimeOptions = Partial<Parameters<typeof createTestRuntime>[0]>;

export function flowWorkflow(code: Code, options: FlowOptions<Record<never, never>, Needs, unknown> = {}) {
  return defineWorkflow({
    type: 'w',
    planVersion: 1,
    input: z.object({}),
    steps: (step) => ({ out: step.flow('main', options as never, code as never) }),
  });
}

export async function started(
  code: Code,
  options?: FlowOptions<Record<never, never>, Needs, unknown>,
  { workflows = [], ...more }: RuntimeOptions = {},
) {
  const runtime = createTestRuntime({ workflows: [flowWorkflow(code, options), ...workflows], ...more });
  const run = await runtime.start('w');
  return { runtime, run };
}

export async function ended(...args: Parameters<typeof started>) {
  const { runtime, run } = await started(...args);
  await runtime.runToEnd(run);
  return { runtime, run };
}
