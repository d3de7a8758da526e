/** How every list is read a page at a time. */
import type { DocumentData, Query } from '@google-cloud/firestore';
import { decodeCursor, encodeCursor, type ListName, type Position } from '../../ports/cursor.ts';
import type { Page, PageRequest } from '../../ports/run-store.ts';
import { call } from '../call.ts';

/** How one list is read: the rest is the same for all. */
export interface Listing<T> {
  readonly list: ListName;
  readonly ordered: Query;
  readonly startAfter: (position: Position) => readonly unknown[];
  readonly decode: (document: DocumentData, id: string) => T;
  readonly positionOf: (item: T, id: string) => Position;
  /** Documents that are passed over; absent: none. */
  readonly isHidden?: (document: DocumentData) => boolean;
}

export async function readPage<T>({ limit, cursor }: PageRequest, listing: Listing<T>): Promise<Page<T>> {
  const { list, ordered, startAfter, decode, positionOf, isHidden = () => false } = listing;
  const from = cursor === undefined ? ordered : ordered.startAfter(...startAfter(decodeCursor(list, cursor)));
  // One more than asked for tells whether there is another page.
  const { docs } = await call(`list of ${list}`, () => from.limit(limit + 1).get());
  const page = docs.slice(0, limit).map((found) => ({
    id: found.id,
    item: decode(found.data(), found.id),
    isHidden: isHidden(found.data()),
  }));
  const items = page.flatMap((one) => (one.isHidden ? [] : [one.item]));
  const last = page.at(-1);
  if (docs.length <= limit || !last) return { items };
  return { items, next: encodeCursor(list, positionOf(last.item, last.id)) };
}
