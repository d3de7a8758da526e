/** Request and response of an effect resolution, and validation of its parts. Pure. */

import type { Resolution } from '../../core/effects/effect.ts';
import { invalidInput } from '../../core/errors.ts';
import type { RunOfTenant } from '../append-to-run.ts';

export interface ResolveRequest extends RunOfTenant {
  readonly effectId: string;
  /** It took place (`recorded`, with its result), may be done once more, or the step fails. */
  readonly outcome: Resolution;
  /** Response of an action that took effect. Absent: null. */
  readonly result?: unknown;
  readonly note?: string | undefined;
  readonly actor: string;
}

/** The first answer; a repetition gets the same. */
export interface EffectResolved {
  readonly runId: string;
  readonly effectId: string;
  readonly outcome: Resolution;
  readonly resolvedBy: string;
  /** Epoch ms. */
  readonly resolvedAt: number;
}

/** Longest note, in characters: it is stored in the journal and the ledger. */
const MAX_NOTE_CHARS = 2_000;

/** @throws CairnError INVALID_INPUT naming the member at fault */
export function assertNote({ note }: Pick<ResolveRequest, 'note'>): void {
  if (note === undefined || (note.trim() !== '' && note.length <= MAX_NOTE_CHARS && note.isWellFormed()))
    return;
  throw invalidInput('note', `a note must be 1 to ${MAX_NOTE_CHARS} characters`);
}
