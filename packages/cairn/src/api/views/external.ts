/** Questions about effects without a run, as the inbox shows them. */

import { type EffectRecord, RESOLUTIONS } from '../../core/effects/effect.ts';
import { keyOfOwner } from '../../core/effects/external.ts';
import { iso } from './values.ts';

export function externalQuestion(row: EffectRecord) {
  const { runId, effectId, capabilityId, requestText, askingSince, createdAt, updatedAt } = row;
  return {
    owner: runId,
    key: keyOfOwner(runId),
    effectId,
    capabilityId,
    why: row.blockedBy === 'confirmation' ? ('confirmation' as const) : ('doubt' as const),
    question: questionOf(row),
    request: requestText === undefined ? undefined : (JSON.parse(requestText) as unknown),
    calledAt: iso(updatedAt),
    openedAt: iso(askingSince ?? createdAt),
    answers: RESOLUTIONS,
  };
}

function questionOf({ runId, capabilityId, blockedBy, presumedAt }: EffectRecord): string {
  const what = `'${capabilityId}' for key '${keyOfOwner(runId)}'`;
  if (blockedBy === 'confirmation')
    return `A function is about to call ${what}, which requires confirmation. Allow the call, record the result of a manual action, or forbid it?`;
  if (presumedAt !== undefined)
    return `A function is about to call ${what} and may have called it before the database was restored. Allow the call, record its earlier result, or forbid it?`;
  return `A function called ${what}, and the outcome is unknown. Check with the receiver, then record the result, allow one more call, or forbid it.`;
}
