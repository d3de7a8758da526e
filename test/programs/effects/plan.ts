/**
 * A workflow whose bodies act externally, as data. Both the real workflow (workflow.ts) and its possible outcomes (judge.ts)
 * are made from it, so it must not refer to the engine.
 */
import type { Nature } from '../../sweep/receiver.ts';

/** First responses of the receiver: accepts, refuses temporarily once or twice, or refuses for good. */
export type Welcome = 'taken' | 'refused_once' | 'refused_twice' | 'refused_for_good';

export interface ActionPlan {
  /** Index into the natures of the installation. */
  readonly nature: number;
  readonly welcome: Welcome;
  /** True if the request depends on the input: a fork with another input then makes a different request. */
  readonly salted: boolean;
}

export interface BodyPlan {
  readonly actions: readonly ActionPlan[];
  /** One after the other, concurrently with keys, or without awaiting any. */
  readonly order: 'sequence' | 'together' | 'unawaited';
  /** True if the body catches errors of its calls and continues. */
  readonly swallows: boolean;
  /** Behaviour after its effects. `fatal`: fails in every run that is not a successor. */
  readonly end: 'returns' | 'throws_once' | 'fatal';
}

export interface StepPlan {
  readonly id: string;
  readonly needs: readonly string[];
  /** Bodies: one per item of a map step, one for a step, none for a child. */
  readonly bodies: readonly BodyPlan[];
  readonly kind: 'step' | 'map' | 'child';
  readonly idempotent: boolean;
  /** `patient` steps have enough attempts for all possible faults. */
  readonly patient: boolean;
  readonly onFailure: 'fail' | 'skip';
  readonly compensate?: BodyPlan;
  readonly child?: Program;
}

export interface Program {
  readonly type: string;
  readonly steps: readonly StepPlan[];
}

export interface ProgramInput {
  readonly path: string;
  readonly salt: number;
}

/** The identity of an action. Another value of any member identifies another action. */
export interface Place {
  readonly path: string;
  readonly stepId: string;
  readonly index: number | undefined;
  readonly revision: number;
  readonly undo: boolean;
}

/** Request to the receiver: identifies one effect of one caller, without the run. */
export function whatOf(place: Place, ordinal: number, { salted }: ActionPlan, salt: number): string {
  const { path, stepId, index = '', revision, undo } = place;
  return [path, stepId, index, revision, undo ? 'undo' : 'do', ordinal, salted ? salt : ''].join('|');
}

export function* allPrograms(program: Program): Generator<Program> {
  yield program;
  for (const { child } of program.steps) if (child) yield* allPrograms(child);
}

/** Natures of every kind, except those that require a permission. */
const UNASKED: readonly Nature[] = (['required', 'optional', 'not_supported'] as const).flatMap(
  (idempotency) =>
    (['use_recorded_result', 'reexecute', 'require_human'] as const).flatMap((replayPolicy, i) =>
      [true, false].map((withLookup) => ({
        idempotency,
        replayPolicy,
        withLookup,
        sideEffects: i % 2 === 0 ? ('external_action' as const) : ('write' as const),
      })),
    ),
);

/** Distance from each nature without a required permission to the same nature with it. */
export const ASKED_FIRST = UNASKED.length;

/** The natures, in a fixed order so that a plan can refer to them by index. */
export const NATURES: readonly Nature[] = [
  ...UNASKED,
  ...UNASKED.map((nature) => ({ ...nature, requiresConfirmation: true })),
];
