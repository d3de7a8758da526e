/** The workflow of no-op runs, which warm up an idle process: a chain of steps with outputs of the usual size. */
import { z } from 'zod';
import type { Handle } from './define/types.ts';
import { defineWorkflow } from './define/workflow.ts';

const STEPS = 10;
/** An output of the usual size. */
const payload = (i: number) => ({ i, ok: true, note: 'x'.repeat(160) });

export const warmUpWorkflow = defineWorkflow({
  type: 'warm-up',
  planVersion: 1,
  input: z.object({}),
  steps(step) {
    let last: Handle<ReturnType<typeof payload>> = step('s1', () => payload(1));
    for (let i = 2; i <= STEPS; i += 1) last = step(`s${i}`, { needs: { before: last } }, () => payload(i));
    return { last };
  },
});
