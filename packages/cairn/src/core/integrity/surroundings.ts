/** Problems outside the run: event mailboxes of its waits, findings, and the idempotency record of its start. Pure. */
import { type IdempotencyRecord, RECORD_TTL_MS } from '../decisions/idempotency.ts';
import { findingCode, isFindingCurrent } from '../findings.ts';
import { cut, SUMMARY_CHARS } from '../run/records.ts';
import { isOver, type RunState } from '../run/state.ts';
import { compare, type DocumentKind } from './compare.ts';
import type { FoundMailbox, RunAsFound } from './found.ts';
import { type ConsistencyProblem, healable, unhealable } from './problems.ts';

export function mailboxProblems({ mailboxes, snapshot }: RunAsFound, state: RunState): ConsistencyProblem[] {
  return mailboxes.flatMap((place) => {
    const subject = mailboxPath(place);
    if (place.reason !== undefined) {
      return [unhealable('RENDEZVOUS_UNREADABLE', subject, { reason: place.reason })];
    }
    // An ended run with completed duties waits nowhere. Before that, closing a wait removes its entry afterwards.
    const leftListed = isOver(state) && snapshot?.metadata.dutiesMet === true ? place.listed : [];
    return [
      ...notListed(place, state).map((waitId) => healable('WAIT_NOT_LISTED', subject, { waitId })),
      ...leftListed.map((waitId) => healable('LISTED_WITHOUT_WAIT', subject, { waitId })),
    ];
  });
}

export function mailboxPath({ event, key }: Pick<FoundMailbox, 'event' | 'key'>): string {
  return `rendezvous/${event}/${key}`;
}

/** Open waits that were announced, so that their mailbox must list them. */
function notListed({ event, key, listed }: FoundMailbox, state: RunState): string[] {
  // A lease holder announces waits itself. For a waiting run, the answer is appended first and the entry removed afterwards.
  if (state.lease || isOver(state)) return [];
  return state.waits
    .filter(
      (wait) => wait.kind === 'event' && wait.announced && wait.name === event && (wait.key ?? '') === key,
    )
    .map(({ id }) => id)
    .filter((id) => !listed.includes(id));
}

/** The scan removes an outdated finding. */
export function findingProblems({ finding }: RunAsFound, state: RunState): ConsistencyProblem[] {
  if (!finding || !isFindingCurrent(finding, state)) return [];
  const { reason, message, since } = finding;
  return [unhealable(findingCode(reason), 'run', { reason, message: cut(message, SUMMARY_CHARS), since })];
}

/** The record of a start is written in its commit, and kept for a day. */
export function recordProblems({ runId, readAt, record }: RunAsFound, state: RunState): ConsistencyProblem[] {
  const { idempotencyKey, createdAt, tenantId, head } = state;
  if (idempotencyKey === undefined) return [];
  const until = createdAt + RECORD_TTL_MS;
  const kind: DocumentKind<IdempotencyRecord, RunState> = {
    pathOf: () => 'idempotency',
    missing: () => ['IDEMPOTENCY_RECORD_MISSING', { until }],
    unreadable: 'IDEMPOTENCY_RECORD_UNREADABLE',
    orphaned: 'IDEMPOTENCY_RECORD_ELSEWHERE',
    differences({ runId: pointsTo, createdAt: madeAt, tenantId: of }) {
      // A record created after its expiry is about another request.
      if ((pointsTo === runId && of === tenantId) || madeAt >= until) return [];
      return [['IDEMPOTENCY_RECORD_ELSEWHERE', pointsTo === undefined ? {} : { runId: pointsTo }]];
    },
    isHealable: () => false,
  };
  const found = record ? [record] : [];
  const problems = compare(kind, { found, expected: new Map([[record?.id ?? '', state]]), head });
  const hasExpired = readAt >= until && record?.kind !== 'sound';
  return hasExpired ? problems.filter(({ code }) => code === 'NEWER_SCHEMA') : problems;
}
