/** Workflows of one step that takes no time: one whose runs are many, and one whose single run stands among them. */
import { z } from 'zod';
import { defineWorkflow } from '../../packages/cairn/src/engine/define/workflow.ts';

export const MANY = 'many';
export const OTHER = 'other';
export type ScannedType = typeof MANY | typeof OTHER;

export const SCANNED = [MANY, OTHER].map((type) =>
  defineWorkflow({
    type,
    planVersion: 1,
    input: z.object({}),
    steps: (step) => ({ done: step('do', () => 'done') }),
  }),
);
