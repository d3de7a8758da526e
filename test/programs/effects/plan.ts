/**
 * A workflow whose bodies act outside, as data: both the real workflow (workflow.ts) and what may become of it (judge.ts) are
 * made from it, so nothing in here may refer to the engine.
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
  /** One after the other, at once under keys, or without waiting for any. */
  readonly order: 'sequence' | 'together' | 'unawaited';
  /** The body catches what its calls throw, and goes on. */
  readonly swallows: boolean;
  /** Behaviour after its effects. `fatal`: in every run that is not a successor. */
  readonly end: 'returns' | 'throws_once' | 'fatal';
}

export interface StepPlan {
  readonly id: string;
  readonly needs: readonly string[];
  /** Bodies: one per item of a map step, one for a step, none for a child. */
  readonly bodies: readonly BodyPlan[];
  readonly kind: 'step' | 'map' | 'child';
  readonly idempotent: boolean;
  /** `patient` ones have attempts enough for all that can go wrong. */
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

/** The identity of an action: another value of any member is another action. */
export interface Place {
  readonly path: string;
  readonly stepId: string;
  readonly index: number | undefined;
  readonly revision: number;
  readonly undo: boolean;
}

/** Request to the receiver: names one effect of one caller, and nothing of the run. */
export function whatOf(place: Place, ordinal: number, { salted }: ActionPlan, salt: number): string {
  const { path, stepId, index = '', revision, undo } = place;
  return [path, stepId, index, revision, undo ? 'undo' : 'do', ordinal, salted ? salt : ''].join('|');
}

export function* allPrograms(program: Program): Generator<Program> {
  yield program;
  for (const { child } of program.steps) if (child) yield* allPrograms(child);
}

/** Natures of every kind but those that ask a person first. */
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

/** Distance from each nature that is not asked about first to the same one that is. */
export const ASKED_FIRST = UNASKED.length;

/** In an order that a plan can name them by. */
export const NATURES: readonly Nature[] = [
  ...UNASKED,
  ...UNASKED.map((nature) => ({ ...nature, requiresConfirmation: true })),
];
