/** Findings about the store: indexes, TTL deletion, clock. Pure. */
import type { StoredHeartbeats } from '../../ports/diagnosis/heartbeats.ts';
import type { LeftOver, SeenIndex } from '../../ports/diagnosis/store-probe.ts';
import { type DiagnosisFinding, note, span, well, wrong } from './finding.ts';

const HOUR_MS = 3_600_000;
/** Firestore usually deletes within a day of the expiry; its documentation guarantees no time. */
export const TTL_GRACE_MS = 72 * HOUR_MS;
/** Records live for a day, so an installation of this age has had expired ones, which should be deleted. */
const TTL_SHOWS_AFTER_MS = TTL_GRACE_MS + 48 * HOUR_MS;
/** Signed requests and ID tokens tolerate five minutes; a tenth of that indicates an unsynchronised clock. */
const MAX_SKEW_MS = 30_000;
const DEPLOY_INDEXES = 'firebase deploy --only firestore:indexes';

export function ofIndexes(indexes: readonly SeenIndex[]): DiagnosisFinding[] {
  const found = indexes.flatMap(ofIndex);
  if (found.length > 0 || indexes.length === 0) return found;
  return [well('INDEXES', `all ${indexes.length} required indexes exist`, { tried: indexes.length })];
}

function ofIndex({ collection, fields, serves, state }: SeenIndex): DiagnosisFinding[] {
  const named = `${collection} (${fields.join(', ')})`;
  const evidence = { collection, fields: [...fields] };
  switch (state) {
    case 'ready':
      return [];
    case 'missing':
      return [
        wrong('INDEX_MISSING', `the index ${named} is missing; used for ${serves}`, {
          help: `${DEPLOY_INDEXES}, then wait a few minutes. cairn indexes --prefix PREFIX prints the definitions for a collection prefix.`,
          evidence,
        }),
      ];
    case 'building':
      return [
        note('INDEX_BUILDING', `the index ${named} is being built; used for ${serves}`, {
          help: 'Wait. Building takes minutes with few documents, hours with many.',
          evidence,
        }),
      ];
    case 'unknown':
      return [
        note('INDEX_UNKNOWN', `the state of the index ${named} is unknown`, {
          help: 'Check the status of Firestore, and try again later.',
          evidence,
        }),
      ];
  }
}

export function ofExpiry(
  leftOvers: readonly LeftOver[],
  { since, readAt }: StoredHeartbeats,
): DiagnosisFinding[] {
  if (leftOvers.length > 0)
    return leftOvers.map(({ collection, expiredAt }) =>
      wrong(
        'TTL_LATE',
        `${collection} still has documents that expired ${span(readAt - expiredAt)} ago: the TTL policy of ${collection}.expiresAt is missing`,
        {
          help: `${DEPLOY_INDEXES}; gcloud firestore fields ttls list --database=DATABASE. Responses stay correct meanwhile: expired documents are ignored.`,
          evidence: { collection, expiredMsAgo: readAt - expiredAt },
        },
      ),
    );
  if (since !== undefined && readAt - since > TTL_SHOWS_AFTER_MS)
    return [well('TTL', `no document expired more than ${span(TTL_GRACE_MS)} ago`)];
  return [
    note('TTL_UNKNOWN', 'no document is old enough to show whether the TTL policies exist', {
      help: 'gcloud firestore fields ttls list --database=DATABASE',
    }),
  ];
}

/** @param skewMs clock of the instance minus the clock of the store */
export function ofClock(skewMs: number): DiagnosisFinding {
  const evidence = { skewMs };
  if (Math.abs(skewMs) <= MAX_SKEW_MS)
    return well('INSTANCE_CLOCK', 'the clocks of this instance and of the store agree', evidence);
  return wrong(
    'INSTANCE_CLOCK_SKEW',
    `the clock of this instance is ${span(Math.abs(skewMs))} ${skewMs > 0 ? 'ahead of' : 'behind'} the store's`,
    {
      help: 'Webhook signatures and schedules depend on it. Deploy again, and report it to Google.',
      evidence,
    },
  );
}
