/** What the resolution of an effect is asked with and answered, and whether its parts go together. Pure. */
import type { Resolution } from '../../core/effects/effect.ts';
import { CairnError } from '../../core/errors.ts';

export interface ResolveRequest {
  readonly runId: string;
  readonly tenantId: string;
  readonly effectId: string;
  /** It took place (`recorded`, with its result), may be done once more, or the step fails. */
  readonly outcome: Resolution;
  /** Of an action that took place: what it answered. Absent: null. */
  readonly result?: unknown;
  readonly note?: string | undefined;
  /** Who says so. */
  readonly actor: string;
}

/** The first answer; a repetition is told the same. */
export interface EffectResolved {
  readonly runId: string;
  readonly effectId: string;
  readonly outcome: Resolution;
  readonly resolvedBy: string;
  /** Epoch ms. */
  readonly resolvedAt: number;
}

/** Of a note, in characters: it stands in the journal and in the ledger. */
const MAX_NOTE_CHARS = 2_000;

/** @throws CairnError INVALID_INPUT naming the member at fault */
export function assertMakesSense({ note }: Pick<ResolveRequest, 'note'>): void {
  if (note === undefined || (note.trim() !== '' && note.length <= MAX_NOTE_CHARS && note.isWellFormed()))
    return;
  throw new CairnError('INVALID_INPUT', `a note must be 1 to ${MAX_NOTE_CHARS} characters`, {
    field: 'note',
  });
}
