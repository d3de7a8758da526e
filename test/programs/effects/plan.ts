/**
 * A workflow whose bodies act outside, as data: both the real workflow (workflow.ts) and what may become of it (judge.ts) are
 * made from it, so nothing in here may refer to the engine.
 */
import type { Nature } from '../../sweep/receiver.ts';

/** What the receiver answers at first: it takes everything, says "not now" so often, or never takes it. */
export type Welcome = 'taken' | 'refused_once' | 'refused_twice' | 'refused_for_good';

export interface ActionPlan {
  /** Which of the natures of the installation. */
  readonly nature: number;
  readonly welcome: Welcome;
  /** Whether what is asked for says something of the input: a fork with another input then asks for something else. */
  readonly salted: boolean;
}

export interface BodyPlan {
  readonly actions: readonly ActionPlan[];
  /** One after the other, at once under keys, or without waiting for any. */
  readonly order: 'sequence' | 'together' | 'unawaited';
  /** The body catches what its calls throw, and goes on. */
  readonly swallows: boolean;
  /** What it does after its actions. `fatal`: in every run that is no successor. */
  readonly end: 'returns' | 'throws_once' | 'fatal';
}

export interface StepPlan {
  readonly id: string;
  readonly needs: readonly string[];
  /** Of a map: one for each item. Of a step: one. Of a child: none. */
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

/** Where an action is asked for: each of its members makes it another one. */
export interface Place {
  readonly path: string;
  readonly stepId: string;
  readonly index: number | undefined;
  readonly revision: number;
  readonly undo: boolean;
}

/** What is asked of the receiver: it names one action of one place, and nothing of the run. */
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
