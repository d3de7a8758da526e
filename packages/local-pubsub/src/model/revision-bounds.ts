/**
 * The first and the last schema revision of a topic. A bound keeps its place when its revision is deleted: the next
 * revision is then the first one, or the previous one the last. Pure.
 */

/** Shown for a bound whose revision is deleted. */
export const DELETED_REVISION = '_deleted-schema-revision_';

interface DeletedBound {
  /** The newest remaining older revision; absent if there is none. */
  readonly deletedAfter?: string | undefined;
}

/** The id of a revision, or the place of a deleted one. */
export type RevisionBound = string | DeletedBound;

interface Bounds {
  readonly firstRevision: RevisionBound | undefined;
  readonly lastRevision: RevisionBound | undefined;
}

/** The revisions within the bounds, oldest first, of all `revisions` in this order. */
export function withinBounds<T extends { readonly revision: string }>(
  revisions: readonly T[],
  { firstRevision, lastRevision }: Bounds,
): T[] {
  const after = (revision: string | undefined) => revisions.findIndex((one) => one.revision === revision) + 1;
  const from =
    typeof firstRevision === 'string' ? after(firstRevision) - 1 : after(firstRevision?.deletedAfter);
  if (lastRevision === undefined) return revisions.slice(from);
  return revisions.slice(
    from,
    after(typeof lastRevision === 'string' ? lastRevision : lastRevision.deletedAfter),
  );
}

/** The bounds once a revision is deleted. @param previous the next older revision; undefined: it is the oldest */
export function boundsWithout<T extends Bounds>(
  bounds: T,
  { revision, previous }: { readonly revision: string; readonly previous: string | undefined },
): T {
  const without = (bound: RevisionBound | undefined): RevisionBound | undefined =>
    bound !== undefined && namedBy(bound) === revision ? { deletedAfter: previous } : bound;
  return {
    ...bounds,
    firstRevision: without(bounds.firstRevision),
    lastRevision: without(bounds.lastRevision),
  };
}

/** The revision that the bound depends on. */
export const namedBy = (bound: RevisionBound | undefined): string | undefined =>
  typeof bound === 'object' ? bound.deletedAfter : bound;
