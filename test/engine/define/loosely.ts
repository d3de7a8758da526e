/** Definitions that no compiler has checked, and their refusals. */
import { z } from 'zod';
import type { Handle, StepFactory } from '../../../packages/cairn/src/engine/define/types.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';

type Loose = (id: string, options?: unknown, body?: unknown) => Handle<never>;
export type LooseFactory = Loose & Record<'map' | 'approval' | 'event' | 'sleep' | 'child' | 'loop', Loose>;

export function defining(
  steps: (step: LooseFactory) => Record<string, unknown>,
  more: object = {},
): () => unknown {
  return () =>
    defineWorkflow({
      type: 'wrong',
      planVersion: 1,
      input: z.object({}),
      steps: (step: StepFactory<object>) => steps(step as unknown as LooseFactory) as never,
      ...more,
    });
}

export function refusal(define: () => unknown): { code?: string; field?: string; message?: string } {
  try {
    define();
  } catch (error) {
    return error as object;
  }
  return {};
}
