/** Workflows with one step that takes no time: one with many runs, and one with a single run among them. */
import { z } from 'zod';
import { defineWorkflow } from '../../packages/cairn/src/engine/define/workflow.ts';

export const MANY = 'many';
export const OTHER = 'other';
/** Workflow of a run before the measurement. */
export const FIRST = 'first';
export type ScannedType = typeof MANY | typeof OTHER | typeof FIRST;

export const SCANNED = [MANY, OTHER, FIRST].map((type) =>
  defineWorkflow({
    type,
    planVersion: 1,
    input: z.object({}),
    steps: (step) => ({ done: step('do', () => 'done') }),
  }),
);
