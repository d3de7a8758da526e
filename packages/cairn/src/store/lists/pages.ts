/** How every list is read a page at a time. */
import type { DocumentData, Query } from '@google-cloud/firestore';
import { decodeCursor, encodeCursor, type ListName, type Position } from '../../ports/cursor.ts';
import type { Page, PageRequest } from '../../ports/run-store.ts';
import { UndecodableDocument } from '../../ports/store-errors.ts';
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
  /**
   * Where a document stands that cannot be decoded: it is told of, and the list goes on behind it. Absent, or undefined for
   * this one: the list cannot be read.
   */
  readonly positionOfDamaged?: (document: DocumentData, id: string) => Position | undefined;
}

export async function readPage<T>({ limit, cursor }: PageRequest, listing: Listing<T>): Promise<Page<T>> {
  const { list, ordered, startAfter, decode, positionOf, isHidden = () => false } = listing;
  const from = cursor === undefined ? ordered : ordered.startAfter(...startAfter(decodeCursor(list, cursor)));
  // One more than asked for tells whether there is another page.
  const { docs } = await call(`list of ${list}`, () => from.limit(limit + 1).get());
  const page = docs.slice(0, limit).map((found): Read<T> => {
    const { id } = found;
    const document = found.data();
    const raw = () => listing.positionOfDamaged?.(document, id);
    if (isHidden(document))
      return { kind: 'hidden', position: () => raw() ?? positionOf(decode(document, id), id) };
    try {
      const item = decode(document, id);
      return { kind: 'item', item, position: () => positionOf(item, id) };
    } catch (error) {
      const position = raw();
      if (!(error instanceof UndecodableDocument) || position === undefined) throw error;
      return { kind: 'damaged', id, position: () => position };
    }
  });
  const items = page.flatMap((one) => (one.kind === 'item' ? [one.item] : []));
  const damaged = page.flatMap((one) => (one.kind === 'damaged' ? [one.id] : []));
  const last = page.at(-1);
  return {
    items,
    ...(docs.length > limit && last ? { next: encodeCursor(list, last.position()) } : {}),
    ...(damaged.length > 0 ? { unreadable: damaged } : {}),
  };
}

type Read<T> = { readonly position: () => Position } & (
  | { readonly kind: 'item'; readonly item: T }
  | { readonly kind: 'hidden' }
  | { readonly kind: 'damaged'; readonly id: string }
);
