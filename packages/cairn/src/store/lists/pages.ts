/** Paged reads, shared by all lists. */
import type { DocumentData, Query, QueryDocumentSnapshot, Timestamp } from '@google-cloud/firestore';
import { decodeCursor, encodeCursor, type ListName, type Position } from '../../core/search/cursor.ts';
import { PageRoom } from '../../core/search/page.ts';
import { MAX_PASSED_OVER, type Page, type PageRequest } from '../../ports/run-store.ts';
import { isOfDocument } from '../../ports/store-errors.ts';
import { call } from '../call.ts';

/** The part of a list that differs between lists. */
interface Listing<T> {
  readonly list: ListName;
  readonly ordered: Query;
  readonly startAfter: (position: Position) => readonly unknown[];
  readonly decode: (document: DocumentData, id: string, createdAt: Timestamp) => T;
  readonly positionOf: (item: T, id: string) => Position;
  /** True for documents to skip; absent: none. */
  readonly isHidden?: (document: DocumentData) => boolean;
  /** True for documents that take no place on the page. Needs `positionOfDamaged`. Absent: none. */
  readonly isPassedOver?: (document: DocumentData, id: string) => boolean;
  /** Maximum number of such documents read for a page; absent: {@link MAX_PASSED_OVER}. */
  readonly maxPassedOver?: number;
  /**
   * Position of an undecodable document, which is reported and after which the list continues. If absent or undefined, the read
   * of the list fails.
   */
  readonly positionOfDamaged?: (document: DocumentData, id: string) => Position | undefined;
}

/** Reads a page. It is shorter than its limit if its documents are large (`MAX_PAGE_BYTES`). */
export async function readPage<T>({ limit, cursor }: PageRequest, listing: Listing<T>): Promise<Page<T>> {
  const { list, ordered, startAfter } = listing;
  const page = new PageInProgress(limit, listing);
  let position = cursor === undefined ? undefined : decodeCursor(list, cursor);
  for (let isAtEnd = false; !isAtEnd && !page.hasMore; ) {
    const from = position === undefined ? ordered : ordered.startAfter(...startAfter(position));
    const { wanted } = page;
    const { docs } = await call(`list of ${list}`, () => from.limit(wanted).get());
    for (const found of docs) if (!page.take(found)) break;
    isAtEnd = docs.length < wanted;
    if (page.hasMore || !isAtEnd) position = page.position();
  }
  const { items, damaged } = page;
  return {
    items,
    ...(page.hasMore && position ? { next: encodeCursor(list, position) } : {}),
    ...(damaged.length > 0 ? { unreadable: damaged } : {}),
  };
}

class PageInProgress<T> {
  readonly items: T[] = [];
  /** Ids of documents that cannot be decoded. */
  readonly damaged: string[] = [];
  /** True if the list continues after this page. */
  hasMore = false;
  /** Position of the last document that was taken or skipped; undefined if there was none. */
  position: () => Position | undefined = () => undefined;
  readonly #listing: Listing<T>;
  readonly #room: PageRoom;
  #passedOver = 0;

  constructor(limit: number, listing: Listing<T>) {
    this.#listing = listing;
    this.#room = new PageRoom(limit);
  }

  /** Number of documents to read next. */
  get wanted(): number {
    return this.#room.wanted;
  }

  /** Takes the next document of the list. @returns false: the page ends here */
  take(found: QueryDocumentSnapshot): boolean {
    // The library decodes the document again at each call, so it is called once.
    const document = found.data();
    const { isPassedOver = () => false, maxPassedOver = MAX_PASSED_OVER, positionOfDamaged } = this.#listing;
    const passed = isPassedOver(document, found.id) ? positionOfDamaged?.(document, found.id) : undefined;
    if (passed) {
      this.#passedOver += 1;
      this.position = () => passed;
      this.hasMore = this.#passedOver >= maxPassedOver;
    } else {
      this.hasMore = !this.#room.take(document);
      if (!this.hasMore) this.#add(found, document);
    }
    return !this.hasMore;
  }

  #add({ id, createTime }: QueryDocumentSnapshot, document: DocumentData): void {
    const { decode, positionOf, isHidden = () => false, positionOfDamaged } = this.#listing;
    const damagedAt = () => positionOfDamaged?.(document, id);
    if (isHidden(document)) {
      this.position = () => damagedAt() ?? positionOf(decode(document, id, createTime), id);
      return;
    }
    try {
      const item = decode(document, id, createTime);
      this.items.push(item);
      this.position = () => positionOf(item, id);
    } catch (error) {
      const position = damagedAt();
      if (!isOfDocument(error) || position === undefined) throw error;
      this.damaged.push(id);
      this.position = () => position;
    }
  }
}
