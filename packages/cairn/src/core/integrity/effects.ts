/**
 * Problems of the ledger rows of a run. The ledger is never repaired, because external calls cannot be derived from
 * other data. Pure.
 */
import { type EffectRecord, type EffectStatus, effectIdOf, isInDoubt } from '../effects/effect.ts';
import { sha256Hex } from '../encoding/hash.ts';
import { optional } from '../optional.ts';
import type { EventData, RunEvent } from '../run/events.ts';
import { isOver, type RunState } from '../run/state.ts';
import { messageOf } from '../thrown.ts';
import type { Judging } from './documents.ts';
import type { FoundDocument } from './facts.ts';
import { type Problem, unhealable } from './problems.ts';
import { isSame } from './same.ts';

/** The last that the journal says of one effect, and what it has said of the request and the answer. */
export interface ToldEffect {
  readonly last: 'attempted' | EventData['effect_settled']['outcome'];
  readonly stepId: string;
  readonly itemKey: string | undefined;
  readonly revision: number;
  readonly capabilityId: string;
  /** Attempt and lease of the last attempt; undefined: not by this run. */
  readonly attempt: number | undefined;
  readonly epoch: number | undefined;
  readonly requestHash: string | undefined;
  readonly responseHash: string | undefined;
  readonly originEffectId: string | undefined;
}

/**
 * Statuses of a row that may be ahead of the journal: a response is written to its row first (E2), and a successor
 * looks up, or asks about, effects that its source left in doubt.
 */
const MAY_BE: { readonly [K in ToldEffect['last']]: readonly EffectStatus[] } = {
  attempted: ['attempted', 'recorded', 'failed', 'blocked'],
  in_doubt: ['attempted', 'recorded', 'failed', 'blocked'],
  blocked: ['blocked', 'recorded', 'failed'],
  recorded: ['recorded'],
  failed: ['failed'],
  reused: ['reused'],
};

/** Folds one more event about an effect. */
export function toldAfter(
  before: ToldEffect | undefined,
  event: RunEvent<'effect_attempted'> | RunEvent<'effect_settled'>,
): ToldEffect {
  const { stepId, itemKey, revision, capabilityId } = event.data;
  const place = { stepId, itemKey, revision, capabilityId };
  if (event.type === 'effect_attempted') {
    const { requestHash = before?.requestHash } = event.data;
    const under = { attempt: event.data.attempt, epoch: event.writer?.epoch };
    return {
      ...place,
      ...under,
      last: 'attempted',
      requestHash,
      responseHash: undefined,
      originEffectId: undefined,
    };
  }
  const { outcome: last, responseHash, originEffectId } = event.data;
  const { attempt, epoch, requestHash } = before ?? {};
  return { ...place, last, attempt, epoch, requestHash, responseHash, originEffectId };
}

export function effectProblems(judging: Judging, state: RunState): Problem[] {
  const { facts, head, vouched } = judging;
  const { effects: told } = facts.journal;
  const problems: Problem[] = [];
  const rows = new Map(facts.effects.map((found) => [found.id, found]));
  for (const [effectId, one] of told) {
    const subject = `effects/${effectId}`;
    const found = rows.get(effectId);
    if (!found) problems.push(unhealable('EFFECT_MISSING', subject, { told: one.last }));
    else problems.push(...rowProblems(found, one, { subject, state }));
  }
  for (const id of rows.keys()) {
    if (told.has(id)) continue;
    // Row and event are one commit (E1).
    const code = vouched ? 'EFFECT_WITHOUT_EVENT' : 'JOURNAL_TAIL_CUT';
    problems.push(unhealable(code, `effects/${id}`, { head }));
  }
  return problems;
}

interface Where {
  readonly subject: string;
  readonly state: RunState;
}

function rowProblems(
  found: FoundDocument<EffectRecord>,
  told: ToldEffect,
  { subject, state }: Where,
): Problem[] {
  if (found.kind !== 'sound') return [unreadableRow(found, subject)];
  try {
    const members = unlike(found.id, found.value, told, state);
    if (members.length > 0) return [unhealable('EFFECT_DIFFERENT', subject, { members, told: told.last })];
    return isOver(state) && isInDoubt(found.value) ? [unhealable('EFFECT_IN_DOUBT_AT_END', subject)] : [];
  } catch (error) {
    return [unhealable('EFFECT_UNREADABLE', subject, { reason: messageOf(error) })];
  }
}

export function unreadableRow(
  found: Exclude<FoundDocument<EffectRecord>, { kind: 'sound' }>,
  subject: string,
): Problem {
  return found.kind === 'newer'
    ? unhealable('NEWER_SCHEMA', subject, { schemaVersion: found.schemaVersion })
    : unhealable('EFFECT_UNREADABLE', subject, { reason: found.reason });
}

/** Members of the row that the journal, or the row itself, says are otherwise. */
function unlike(id: string, row: EffectRecord, told: ToldEffect, state: RunState): string[] {
  const { last, attempt, epoch, requestHash, responseHash, originEffectId, ...place } = told;
  const expected: Partial<Record<keyof EffectRecord, unknown>> = {
    ...place,
    effectId: id,
    tenantId: state.tenantId,
    rootRunId: state.rootRunId,
    ...optional('attempt', attempt),
    ...optional('epoch', epoch),
    ...optional('requestHash', requestHash),
    ...optional('responseHash', responseHash),
    ...optional('originEffectId', originEffectId),
  };
  const members = Object.entries(expected)
    .filter(([name, value]) => !isSame(row[name as keyof EffectRecord], value))
    .map(([name]) => name);
  if (!isIdOf(id, row)) members.push('idempotencyKey');
  if (!MAY_BE[last].includes(row.status)) members.push('status');
  return [...members, ...resultAmiss(row)].sort();
}

export function isIdOf(id: string, { idempotencyKey, n }: EffectRecord): boolean {
  try {
    return effectIdOf(idempotencyKey, n) === id;
  } catch {
    return false;
  }
}

/** The hash of a recorded answer stands beside it. */
export function resultAmiss({ status, resultText, recordedResultRef, responseHash }: EffectRecord): string[] {
  if (status !== 'recorded') return [];
  if (resultText !== undefined) return sha256Hex(resultText) === responseHash ? [] : ['resultText'];
  // A resolution recorded without a result has none.
  if (recordedResultRef === undefined) return responseHash === undefined ? [] : ['resultText'];
  return recordedResultRef.sha256 === responseHash ? [] : ['recordedResultRef'];
}
