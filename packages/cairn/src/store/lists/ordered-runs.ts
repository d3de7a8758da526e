/**
 * Runs ordered by duration or by last change, each by its own index. No index covers all filters: runs that a filter excludes
 * are read and skipped, a bounded number for each page.
 */
import { type DocumentData, FieldPath, type Query, Timestamp } from '@google-cloud/firestore';
import { decodeCursor, encodeCursor, type Position } from '../../core/search/cursor.ts';
import { mergedPage } from '../../core/search/order.ts';
import {
  type ListedRun,
  MAX_PASSED_OVER,
  type Page,
  type PageRequest,
  type RunFilter,
} from '../../ports/run-store.ts';
import { isInList } from '../../ports/runs/in-list.ts';
import type { IndexedOrder } from '../../ports/runs/run-finder.ts';
import { ifDecodable } from '../../ports/store-errors.ts';
import { decodeListed, isMarkedToGo, LISTED_NAMES } from '../codec/snapshot.ts';
import type { Paths } from '../paths.ts';
import { readPage } from './pages.ts';
import { groupsOf, type Shards } from './shards.ts';
import { withWaits } from './waits.ts';

interface OrderedQuestion {
  readonly order: IndexedOrder;
  readonly filter: RunFilter;
  readonly page: PageRequest;
}

export async function orderedRuns(
  paths: Paths,
  shards: Shards,
  { order, filter, page }: OrderedQuestion,
): Promise<Page<ListedRun>> {
  const sources = order === 'longest' ? [ended(paths, filter)] : await changed(paths, shards, filter);
  const pages = await Promise.all(
    sources.map((runs) =>
      readPage(page, {
        list: order,
        ordered: runs.orderBy(FieldPath.documentId(), 'desc').select(...LISTED_NAMES),
        startAfter: ([at, id]) => [order === 'longest' ? at : Timestamp.fromMillis(at), id],
        decode: (document, id) => decodeListed(document, `run ${id}`),
        positionOf: ({ state }, id) => [order === 'longest' ? (state.durationMs ?? 0) : state.updatedAt, id],
        isHidden: isMarkedToGo,
        isPassedOver: (document, id) => isPassedOver(document, id, filter),
        maxPassedOver: Math.ceil(MAX_PASSED_OVER / sources.length),
        positionOfDamaged: (document, id) => positionIn(document, id, order),
      }),
    ),
  );
  const { limit } = page;
  const parts = pages.map(({ items, next }) => ({
    items,
    until: next === undefined ? undefined : decodeCursor(order, next),
  }));
  const { items, until } = mergedPage(parts, { order, asOf: 0, limit });
  const { runs, damaged } = await withWaits(paths, items);
  const ids = [...pages.flatMap(({ unreadable = [] }) => unreadable), ...damaged];
  return {
    items: runs,
    ...(until ? { next: encodeCursor(order, until) } : {}),
    ...(ids.length > 0 ? { unreadable: ids } : {}),
  };
}

/** A run has a duration only after its end, so its entry is written with its end. */
function ended(paths: Paths, { tenantId, type }: RunFilter): Query {
  const runs = paths.runs().where('tenantId', '==', tenantId);
  return (type === undefined ? runs : runs.where('type', '==', type)).orderBy('durationMs', 'desc');
}

/** Every snapshot moves its entry to the end of the index. The index begins with a shard, so that these writes are spread. */
async function changed(paths: Paths, shards: Shards, { tenantId }: RunFilter): Promise<readonly Query[]> {
  const runs = paths.runs().where('tenantId', '==', tenantId);
  const all = await shards.covering('look for changed runs of more shards', (beyond) =>
    beyond(runs).orderBy('updatedAt', 'desc'),
  );
  return groupsOf(all).map((some) => runs.where('shard', 'in', some).orderBy('updatedAt', 'desc'));
}

/** An unreadable document is kept, so that the list names it, unless its readable members do not match the filter. */
function isPassedOver(document: DocumentData, id: string, filter: RunFilter): boolean {
  if (isMarkedToGo(document)) return false;
  const { type, repoId, threadId } = filter;
  const isOther = Object.entries({ type, repoId, threadId }).some(
    ([name, wanted]) => wanted !== undefined && document[name] !== wanted,
  );
  if (isOther) return true;
  const listed = ifDecodable(() => decodeListed(document, `run ${id}`));
  return listed !== undefined && !isInList(listed, filter);
}

function positionIn(document: DocumentData, id: string, order: IndexedOrder): Position | undefined {
  const { durationMs, updatedAt } = document;
  if (order === 'longest') return typeof durationMs === 'number' ? [durationMs, id] : undefined;
  return updatedAt instanceof Timestamp ? [updatedAt.toMillis(), id] : undefined;
}
