/** Reads one query under a transaction's locks, and returns the range that stays locked. */

import { compareCandidates, matches, withinCursors } from '../model/query/match.ts';
import type { Query } from '../model/query/query.ts';
import { inScope, type QueriedDocument, runQueryPlan } from './query-runner.ts';
import type { ReadConsistency, TransactionalStore } from './transactional-store.ts';
import type { LockedRange } from './transactions/lock-need.ts';

export interface QueryRead {
  /** In order, after offset and limit. */
  readonly found: readonly QueriedDocument[];
  /** Documents skipped by the offset. */
  readonly skipped: number;
  /** Index entries that were read. */
  readonly entries: number;
  /** Microseconds since 1970. */
  readonly readTime: number;
}

export function readQuery(
  store: TransactionalStore,
  { transaction, snapshot }: ReadConsistency,
  query: Query,
): QueryRead | Promise<QueryRead> {
  const database = store.databases.get(query.scope.database);
  return store.query(transaction, wholeRange(query), () => {
    const count = query.limit === undefined ? Number.POSITIVE_INFINITY : query.offset + query.limit;
    const scanned = { entries: 0 };
    const all = runQueryPlan(database, query, { count, snapshot, scanned });
    const found = all.slice(query.offset);
    const skipped = Math.min(query.offset, all.length);
    const readTime = snapshot?.time ?? database.readTime();
    const result = { found, skipped, entries: scanned.entries, readTime };
    return { result, range: rangeRead(query, found), found };
  });
}

/** Everything the query could return, whatever its limit. */
function wholeRange(query: Query): LockedRange {
  const { collectionId } = query.scope;
  return {
    collectionId,
    covers: (c) => inScope(query.scope, c.name) && matches(query, c) && withinCursors(query, c),
  };
}

/** Range that was read: nothing beyond the last result if the limit was reached. */
function rangeRead(query: Query, found: readonly QueriedDocument[]): LockedRange {
  const whole = wholeRange(query);
  const last = found.at(-1);
  if (query.limit === undefined || found.length < query.limit || !last) return whole;
  return { ...whole, covers: (c) => whole.covers(c) && compareCandidates(query.orders, c, last) <= 0 };
}
