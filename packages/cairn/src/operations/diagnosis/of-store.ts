/** What is said of the store: its indexes, what it deletes by itself, and its clock. Pure. */
import type { HeardBeats } from '../../ports/diagnosis/heartbeats.ts';
import type { LeftOver, SeenIndex } from '../../ports/diagnosis/store-look.ts';
import { type Finding, note, span, well, wrong } from './finding.ts';

const HOUR_MS = 3_600_000;
/** Firestore deletes within a day of the expiry, as a rule; its documentation promises none. */
export const TTL_GRACE_MS = 72 * HOUR_MS;
/** Records live for a day: an installation that has run for so long has had some that ought to be gone. */
const TTL_SHOWS_AFTER_MS = TTL_GRACE_MS + 48 * HOUR_MS;
/** Signed requests and ID tokens bear five minutes; a tenth of that is a clock that nobody sets. */
const MOST_SKEW_MS = 30_000;
const DEPLOY_INDEXES = 'firebase deploy --only firestore:indexes';

export function ofIndexes(indexes: readonly SeenIndex[]): Finding[] {
  const told = indexes.flatMap(ofIndex);
  if (told.length > 0 || indexes.length === 0) return told;
  return [
    well('INDEXES', `all ${indexes.length} indexes that queries need are there`, { tried: indexes.length }),
  ];
}

function ofIndex({ collection, fields, serves, state }: SeenIndex): Finding[] {
  const named = `${collection} (${fields.join(', ')})`;
  const evidence = { collection, fields: [...fields] };
  switch (state) {
    case 'ready':
      return [];
    case 'missing':
      return [
        wrong('INDEX_MISSING', `the index ${named} is missing; it serves ${serves}`, {
          help: `${DEPLOY_INDEXES}, and a few minutes. cairn indexes --prefix PREFIX prints what that file needs for a prefix.`,
          evidence,
        }),
      ];
    case 'building':
      return [
        note('INDEX_BUILDING', `the index ${named} is being built; it serves ${serves}`, {
          help: 'Wait: minutes with few documents, hours with many.',
          evidence,
        }),
      ];
    case 'unknown':
      return [
        note('INDEX_UNKNOWN', `the store answers neither way about the index ${named}`, {
          help: 'Look at the state of Firestore, and again in a while.',
          evidence,
        }),
      ];
  }
}

export function ofExpiry(leftOvers: readonly LeftOver[], { since, readAt }: HeardBeats): Finding[] {
  if (leftOvers.length > 0)
    return leftOvers.map(({ collection, expiredAt }) =>
      wrong(
        'TTL_LATE',
        `${collection} still has documents that expired ${span(readAt - expiredAt)} ago: the TTL policy of ${collection}.expiresAt is missing`,
        {
          help: `${DEPLOY_INDEXES}; gcloud firestore fields ttls list. Nothing is answered wrongly meanwhile: expired documents count as gone.`,
          evidence: { collection, expiredMsAgo: readAt - expiredAt },
        },
      ),
    );
  if (since !== undefined && readAt - since > TTL_SHOWS_AFTER_MS)
    return [well('TTL', `nothing is left that expired more than ${span(TTL_GRACE_MS)} ago`)];
  return [
    note(
      'TTL_UNKNOWN',
      'nothing can have expired long enough ago to show whether the TTL policies are there',
      {
        help: 'gcloud firestore fields ttls list',
      },
    ),
  ];
}

/** @param skewMs how far the clock of the instance is ahead of the store's */
export function ofClock(skewMs: number): Finding {
  const evidence = { skewMs };
  if (Math.abs(skewMs) <= MOST_SKEW_MS)
    return well('INSTANCE_CLOCK', 'the clocks of this instance and of the store agree', evidence);
  return wrong(
    'INSTANCE_CLOCK_SKEW',
    `the clock of the instance that answers is ${span(Math.abs(skewMs))} ${skewMs > 0 ? 'ahead of' : 'behind'} the store's`,
    {
      help: 'Signatures of webhooks and the times of schedules are judged by it. Deploy again; tell Google.',
      evidence,
    },
  );
}
