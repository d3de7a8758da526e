/** The result of a call that a person reports, stored as the ledger stores results. */
import type { StoredResponse } from '../../core/effects/effect.ts';
import { invalidInput } from '../../core/errors.ts';
import { allIssues } from '../../core/first-issue.ts';
import type { Capability } from '../../engine/define/capability.ts';
import { answerOf } from '../../engine/effects/rows.ts';
import { parsedData } from '../../engine/waits/answer-data.ts';
import { type SendDeps, sendUntilKnown } from '../../journal/send-until-known.ts';
import type { RunStore } from '../../ports/run-store.ts';
import type { ResolveRequest } from './request.ts';

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
