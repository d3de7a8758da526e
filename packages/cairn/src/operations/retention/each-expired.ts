/**
 * Iterates over all runs past their retention period: by workflow, then by final status, the earliest end first. The iteration may
 * stop anywhere and continue later.
 */
import { END_STATUSES } from '../../core/retention/policy.ts';
import { cursorParts, cursorText, foreignCursor, isTime } from '../../core/search/cursor.ts';
import type { Bucket, EndedRun, EndPosition } from '../../ports/runs/retention-store.ts';
import type { LineageDeps } from './deps.ts';
import { PAGE } from './tick-budget.ts';

/** A bucket and a position in it; undefined: its beginning. */
export interface BucketPosition extends Bucket {
  readonly after?: EndPosition | undefined;
}

interface WalkPage {
  readonly bucket: Bucket;
  readonly runs: readonly EndedRun[];
  /** Position after them. */
  readonly place: BucketPosition;
}

/**
 * Yields a page per stretch, and an empty one per finished bucket, so that the caller can stop after any.
 *
 * @param from undefined: the beginning
 */
export async function* eachExpired(
  { retention, retentionOf, clock }: LineageDeps,
  from: BucketPosition | undefined,
): AsyncGenerator<WalkPage> {
  let bucket: Bucket | undefined = from ?? (await retention.nextBucket(undefined));
  let after = from?.after;
  while (bucket) {
    const { status, type }: Bucket = bucket;
    const keepMs = retentionOf(type, status);
    for (let more = keepMs !== undefined; more; ) {
      const until = clock.now() - (keepMs ?? 0);
      const runs: readonly EndedRun[] = await retention.ended({
        bucket: { status, type },
        until,
        after,
        limit: PAGE,
      });
      after = placeOf(runs.at(-1)) ?? after;
      more = runs.length === PAGE;
      yield { bucket: { status, type }, runs, place: { status, type, after } };
    }
    if (keepMs === undefined) yield { bucket: { status, type }, runs: [], place: { status, type } };
    after = undefined;
    bucket = await retention.nextBucket({ status, type });
  }
}

export function placeText({ status, type, after }: BucketPosition): string {
  return cursorText([status, type, ...(after ? [after.completedAt, after.runId] : [])]);
}

/** @throws CairnError INVALID_INPUT for a text that is not a position */
export function readPlace(text: string): BucketPosition {
  const [status, type, completedAt, runId, ...rest] = cursorParts(text);
  const known = END_STATUSES.find((one) => one === status);
  if (known && typeof type === 'string' && /^[a-z0-9-]{1,100}$/.test(type) && rest.length === 0) {
    if (completedAt === undefined && runId === undefined) return { status: known, type };
    if (isTime(completedAt) && typeof runId === 'string' && /^[\w.:-]{1,100}$/.test(runId))
      return { status: known, type, after: { completedAt, runId } };
  }
  throw foreignCursor();
}

function placeOf(run: EndedRun | undefined): EndPosition | undefined {
  return run && { completedAt: run.completedAt, runId: run.runId };
}
