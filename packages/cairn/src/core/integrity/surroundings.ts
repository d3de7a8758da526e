/** Problems outside the run: event mailboxes of its waits, and the idempotency record of its start. Pure. */
import { COMPLETED_TTL_MS } from '../decisions/idempotency.ts';
import { findingCode, stillStands } from '../findings.ts';
import { cut, SUMMARY_CHARS } from '../run/records.ts';
import { isOver, type RunState } from '../run/state.ts';
import type { MailboxFact, RunFacts } from './facts.ts';
import { healable, type Problem, unhealable } from './problems.ts';

export function mailboxProblems({ mailboxes, snapshot }: RunFacts, state: RunState): Problem[] {
  return mailboxes.flatMap((place) => {
    const subject = `rendezvous/${place.event}/${place.key}`;
    if (place.reason !== undefined) {
      return [unhealable('RENDEZVOUS_UNREADABLE', subject, { reason: place.reason })];
    }
    return [
      ...notListed(place, state).map((waitId) => healable('WAIT_NOT_LISTED', subject, { waitId })),
      ...listedInVain(place, state, snapshot?.soft.obligationsMet === true).map((waitId) =>
        healable('LISTED_WITHOUT_WAIT', subject, { waitId }),
      ),
    ];
  });
}

/** Open waits that were announced, so that their mailbox must list them. */
function notListed({ event, key, listed }: MailboxFact, state: RunState): string[] {
  // A lease holder announces waits itself. For a waiting run, the answer is appended first and the entry removed afterwards.
  if (state.lease || isOver(state)) return [];
  return state.waits
    .filter(
      (wait) => wait.kind === 'event' && wait.announced && wait.name === event && (wait.key ?? '') === key,
    )
    .map(({ id }) => id)
    .filter((id) => !listed.includes(id));
}

/** An ended run with completed duties waits nowhere. Before that, closing a wait removes its entry afterwards. */
function listedInVain({ listed }: MailboxFact, state: RunState, allTold: boolean): readonly string[] {
  return isOver(state) && allTold ? listed : [];
}

/** One that is true no more is taken away by the scan. */
export function findingProblems({ finding }: RunFacts, state: RunState): Problem[] {
  if (!finding || !stillStands(finding, state)) return [];
  const { reason, message, since } = finding;
  return [unhealable(findingCode(reason), 'run', { reason, message: cut(message, SUMMARY_CHARS), since })];
}

/** The record of a start is written in its commit, and kept for a day. */
export function recordProblems({ runId, readAt, record }: RunFacts, state: RunState): Problem[] {
  const { idempotencyKey, createdAt } = state;
  if (idempotencyKey === undefined) return [];
  const standsUntil = createdAt + COMPLETED_TTL_MS;
  const subject = 'idempotency';
  if (!record) {
    if (readAt >= standsUntil) return [];
    return [unhealable('IDEMPOTENCY_RECORD_MISSING', subject, { until: standsUntil })];
  }
  if (record.kind === 'newer') {
    return [unhealable('NEWER_SCHEMA', subject, { schemaVersion: record.schemaVersion })];
  }
  if (record.kind === 'unreadable') {
    return readAt >= standsUntil
      ? []
      : [unhealable('IDEMPOTENCY_RECORD_UNREADABLE', subject, { reason: record.reason })];
  }
  const { runId: pointsTo, createdAt: madeAt, tenantId } = record.value;
  // A record created after its expiry is about another request.
  if ((pointsTo === runId && tenantId === state.tenantId) || madeAt >= standsUntil) return [];
  return [
    unhealable('IDEMPOTENCY_RECORD_ELSEWHERE', subject, pointsTo === undefined ? {} : { runId: pointsTo }),
  ];
}
