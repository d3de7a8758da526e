/** The resolution of an effect by a person: its request and response, and the reported result, stored as the ledger stores results. */

import type { Resolution, StoredResponse } from '../../core/effects/effect.ts';
import { invalidInput } from '../../core/errors.ts';
import { allIssues } from '../../core/first-issue.ts';
import { parsedData } from '../../core/parsed-data.ts';
import type { Capability } from '../../engine/define/capability.ts';
import { answerOf } from '../../engine/effects/rows.ts';
import { type SendDeps, sendUntilKnown } from '../../journal/send-until-known.ts';
import type { RunStore } from '../../ports/run-store.ts';
import type { RunOfTenant } from '../append-to-run.ts';

export interface ResolveRequest extends RunOfTenant {
  readonly effectId: string;
  /** The effect took place (`recorded`, with its result), may be called once more, or the step fails. */
  readonly outcome: Resolution;
  /** Response of an action that took effect. Absent: null. */
  readonly result?: unknown;
  readonly note?: string | undefined;
  readonly actor: string;
}

/** The first resolution. A repetition gets the same. */
export interface EffectResolved {
  readonly runId: string;
  readonly effectId: string;
  readonly outcome: Resolution;
  readonly resolvedBy: string;
  /** Epoch ms. */
  readonly resolvedAt: number;
}

/** Longest note, in characters. It is stored in the journal and the ledger. */
const MAX_NOTE_CHARS = 2_000;

/** @throws CairnError INVALID_INPUT with the name of the invalid member */
export function assertNote({ note }: Pick<ResolveRequest, 'note'>): void {
  if (note === undefined || (note.trim() !== '' && note.length <= MAX_NOTE_CHARS && note.isWellFormed()))
    return;
  throw invalidInput('note', `a note must be 1 to ${MAX_NOTE_CHARS} characters`);
}

interface AnswerDeps extends SendDeps {
  readonly store: Pick<RunStore, 'writePayload'>;
}

type Reported = Pick<ResolveRequest, 'runId' | 'result'>;

/** @throws CairnError UNAVAILABLE */
export function storedAnswer(
  deps: AnswerDeps,
  capability: Pick<Capability, 'id' | 'secrets'>,
  { runId, result }: Reported,
): ReturnType<typeof answerOf> {
  return sendUntilKnown(deps, () => answerOf(deps.store, runId, capability, result ?? null));
}

/** @throws CairnError INVALID_INPUT for a result that the capability's schema refuses; UNAVAILABLE */
export async function checkedAnswer(
  deps: AnswerDeps,
  capability: Capability,
  reported: Reported,
): Promise<StoredResponse> {
  const { answer, text } = await storedAnswer(deps, capability, reported);
  const parsed = parsedData(capability.response, JSON.parse(text));
  if ('data' in parsed) return answer;
  const { field, why } = allIssues(parsed.issues, 'result');
  throw invalidInput(field, why, {
    help: `Nothing was recorded. Give the result in the form of a response of '${capability.id}'.`,
  });
}
