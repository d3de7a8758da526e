/** Paged reads, shared by all lists. */
import type { DocumentData, Query, QueryDocumentSnapshot, Timestamp } from '@google-cloud/firestore';
import { PageRoom } from '../../core/search/page.ts';
import { decodeCursor, encodeCursor, type ListName, type Position } from '../../ports/cursor.ts';
import { MAX_PASSED_OVER, type Page, type PageRequest } from '../../ports/run-store.ts';
import { isOfDocument } from '../../ports/store-errors.ts';
import { call } from '../call.ts';

/** The part of a list read that differs between lists. */
interface Listing<T> {
  readonly list: ListName;
  readonly ordered: Query;
  readonly startAfter: (position: Position) => readonly unknown[];
  readonly decode: (document: DocumentData, id: string, createdAt: Timestamp) => T;
  readonly positionOf: (item: T, id: string) => Position;
  /** Documents that are passed over; absent: none. */
  readonly isHidden?: (document: DocumentData) => boolean;
  /** Documents that take no place on the page. Needs `positionOfDamaged`. Absent: none. */
  readonly isPassedOver?: (document: DocumentData, id: string) => boolean;
  /** At most so many of them are read for a page; absent: {@link MAX_PASSED_OVER}. */
  readonly maxPassedOver?: number;
  /**
   * Position of an undecodable document: it is reported, and the list continues after it. Absent, or undefined for this
   * one: the list cannot be read.
   */
  readonly positionOfDamaged?: (document: DocumentData, id: string) => Position | undefined;
}

/** A page is shorter than its limit where its documents are large (`MAX_PAGE_BYTES`). */
export async function readPage<T>({ limit, cursor }: PageRequest, listing: Listing<T>): Promise<Page<T>> {
  const { list, ordered, startAfter, isPassedOver = () => false, maxPassedOver = MAX_PASSED_OVER } = listing;
  const room = new PageRoom(limit);
  const page: ReadItem<T>[] = [];
  let position = cursor === undefined ? undefined : decodeCursor(list, cursor);
  let hasMore = false;
  let passedOver = 0;
  let last: (() => Position) | undefined;
  for (let isAtEnd = false; !isAtEnd && !hasMore; ) {
    const from = position === undefined ? ordered : ordered.startAfter(...startAfter(position));
    const requested = room.wanted;
    const { docs } = await call(`list of ${list}`, () => from.limit(requested).get());
    for (const found of docs) {
      // The library decodes the document again at each call.
      const document = found.data();
      const place = isPassedOver(document, found.id)
        ? listing.positionOfDamaged?.(document, found.id)
        : undefined;
      if (place) {
        passedOver += 1;
        last = () => place;
        hasMore = passedOver >= maxPassedOver;
        if (hasMore) break;
        continue;
      }
      hasMore = !room.take(document);
      if (hasMore) break;
      const one = readOne(found, document, listing);
      page.push(one);
      last = one.position;
    }
    isAtEnd = docs.length < requested;
    if (hasMore || !isAtEnd) position = last?.();
  }
  const items = page.flatMap((one) => (one.kind === 'item' ? [one.item] : []));
  const damaged = page.flatMap((one) => (one.kind === 'damaged' ? [one.id] : []));
  return {
    items,
    ...(hasMore && position ? { next: encodeCursor(list, position) } : {}),
    ...(damaged.length > 0 ? { unreadable: damaged } : {}),
  };
}

function readOne<T>(
  { id, createTime }: QueryDocumentSnapshot,
  document: DocumentData,
  listing: Listing<T>,
): ReadItem<T> {
  const { decode, positionOf, isHidden = () => false } = listing;
  const raw = () => listing.positionOfDamaged?.(document, id);
  if (isHidden(document))
    return { kind: 'hidden', position: () => raw() ?? positionOf(decode(document, id, createTime), id) };
  try {
    const item = decode(document, id, createTime);
    return { kind: 'item', item, position: () => positionOf(item, id) };
  } catch (error) {
    const position = raw();
    if (!isOfDocument(error) || position === undefined) throw error;
    return { kind: 'damaged', id, position: () => position };
  }
}

type ReadItem<T> = { readonly position: () => Position } & (
  | { readonly kind: 'item'; readonly item: T }
  | { readonly kind: 'hidden' }
  | { readonly kind: 'damaged'; readonly id: string }
);
