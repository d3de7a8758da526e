/** The kinds of steps. They are read through `events.ts`, except for the list. */

export const STEP_KINDS = ['step', 'map', 'approval', 'event', 'sleep', 'child', 'flow'] as const;
export type StepKind = (typeof STEP_KINDS)[number];
