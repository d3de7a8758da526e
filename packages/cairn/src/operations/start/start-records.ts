/** The idempotency records of a start: those that it writes, and the meaning of existing ones. Pure. */

import {
  decideExisting,
  GITHUB_SECONDARY_WINDOW_MS,
  type IdempotencyRecord,
  RECORD_TTL_MS,
} from '../../core/decisions/idempotency.ts';
import type { StoredRecord } from '../../ports/idempotency-store.ts';
import type { StartRecord } from '../../ports/run-store.ts';
import { refusedKey } from '../repeated-request.ts';
import type { Draft, DraftedStart } from './draft-run.ts';
import type { StartRequest, StartResponse } from './request.ts';

/** Both records of a start, one, or none. `replace` has the versions of the expired records that they replace. */
export function recordsFor({ request, draft }: DraftedStart, replace: Replace): StartRecord[] {
  const records: StartRecord[] = [];
  if (request.key !== undefined) {
    records.push({ record: recordOf(request, request.key, draft), replaces: replace.primary });
  }
  if (request.secondaryKey !== undefined) {
    const record = recordOf(request, request.secondaryKey, draft);
    records.push({ record, replaces: replace.secondary });
  }
  return records;
}

/** Versions of expired records. */
export interface Replace {
  readonly primary?: string | undefined;
  readonly secondary?: string | undefined;
}

/** The record of a start is `completed` from the beginning, because the same commit creates the record and its run. */
function recordOf(request: StartRequest, key: string, draft: Draft): IdempotencyRecord {
  const { response, now } = draft;
  return {
    key,
    source: request.source,
    tenantId: request.tenantId,
    runId: response.runId,
    status: 'completed',
    requestHash: request.requestHash,
    response,
    createdAt: now,
    updatedAt: now,
    expiresAt: now + RECORD_TTL_MS,
    attempts: 1,
    attemptId: attemptOf(draft),
  };
}

/** Random for each start. The run id is not: all attempts for one slot or child have the same. */
function attemptOf({ commit }: Draft): string | undefined {
  return commit.events[0]?.id;
}

/** The existing records that the commit found. */
export interface StoredRecords {
  readonly primary?: StoredRecord | undefined;
  readonly secondary?: StoredRecord | undefined;
}

export type StartDecision =
  | { readonly kind: 'ours' }
  | KnownAnswer
  | { readonly kind: 'again'; readonly replace: Replace };

type KnownAnswer =
  | { readonly kind: 'in_flight' }
  | {
      readonly kind: 'replayed';
      readonly runId: string;
      readonly response: StartResponse;
      /** Present if only the second key matched; this is its record. The delivery's own key must give the same answer from now on. */
      readonly byContent?: IdempotencyRecord;
    };

/** Meaning of existing records for this request. */
export function judge(
  { deps, request, draft }: DraftedStart,
  { primary, secondary }: StoredRecords,
): StartDecision {
  const attempt = attemptOf(draft);
  if (primary?.record.attemptId === attempt || secondary?.record.attemptId === attempt)
    return { kind: 'ours' };
  // Without a key, the conflict is with an earlier attempt of this start, or with another start of a run with a derived id.
  if (request.key === undefined && request.secondaryKey === undefined) return { kind: 'ours' };
  const now = deps.clock.now();
  if (primary) {
    const decision = decideExisting(primary.record, { ...request, now });
    if (decision.kind === 'in_flight') return decision;
    if (decision.kind === 'replay') return answerOf(primary.record);
    if (decision.kind !== 'expired' && decision.kind !== 'take_over') throw refusedKey(decision.kind);
  }
  if (secondary && isSameContent(secondary.record, request, now)) {
    const answer = answerOf(secondary.record);
    return answer.kind === 'replayed' ? { ...answer, byContent: secondary.record } : answer;
  }
  return { kind: 'again', replace: { primary: primary?.version, secondary: secondary?.version } };
}

function isSameContent(record: IdempotencyRecord, { tenantId }: StartRequest, now: number): boolean {
  return record.tenantId === tenantId && now - record.createdAt < GITHUB_SECONDARY_WINDOW_MS;
}

/** The answer from a record with a run; in flight as long as the record has no response. */
export function answerOf({ runId, response }: IdempotencyRecord): KnownAnswer {
  if (runId === undefined || response === undefined) return { kind: 'in_flight' };
  return { kind: 'replayed', runId, response: response as StartResponse };
}
