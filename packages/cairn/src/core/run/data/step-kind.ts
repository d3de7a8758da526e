/** The kinds of steps. Import the types through `events.ts`. */

export const STEP_KINDS = ['step', 'map', 'approval', 'event', 'sleep', 'child', 'flow'] as const;
export type StepKind = (typeof STEP_KINDS)[number];
