/** Moves that make the state of a run larger than one document, in few events. */
import type { EventDraft } from '../../../packages/cairn/src/core/run/events.ts';

/** Open actions of steps with 3 KB of name each: 170 make half a megabyte. */
export function attempts(from: number, count: number): EventDraft[] {
  return Array.from({ length: count }, (_, i) => ({
    type: 'effect_attempted',
    initiator: 'system',
    data: {
      stepId: 'act',
      itemKey: String(from + i),
      revision: 1,
      effectId: `effect-${from + i}`,
      capabilityId: 'c'.repeat(3_000),
      attempt: 1,
    },
  }));
}

/** Undone in vain: entries of the undo log of 1.4 KB. */
export function failedUndos(from: number, count: number): EventDraft[] {
  return Array.from({ length: count }, (_, i) => ({
    type: 'compensation_failed',
    initiator: 'system',
    data: {
      stepId: 'undo',
      itemKey: String(from + i),
      revision: 1,
      error: { code: 'STEP_FAILED', message: '\u0001'.repeat(240), retryable: true },
    },
  }));
}

/** All of them, known after all: the state is small again. */
export function answers(from: number, count: number): EventDraft[] {
  return Array.from({ length: count }, (_, i) => ({
    type: 'effect_settled',
    initiator: 'system',
    data: {
      stepId: 'act',
      itemKey: String(from + i),
      revision: 1,
      effectId: `effect-${from + i}`,
      capabilityId: 'c',
      outcome: 'recorded',
    },
  }));
}
