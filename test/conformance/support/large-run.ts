/** Events that make the state of a run larger than one document. */
import type { EventDraft } from '../../../packages/cairn/src/core/run/events.ts';

/** Open actions of steps with names of 3 KB; 170 of them take half a megabyte. */
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

/** Failed compensations: entries of the undo log of 1.4 KB. */
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

/** Outcomes for all of them, after which the state is small again. */
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
