/** Decodes the documents of a list. A document that cannot be read does not hide the others. */
import type { DocumentData, QueryDocumentSnapshot } from '@google-cloud/firestore';
import { ifDecodable } from '../../ports/store-errors.ts';

interface Readable<T> {
  readonly items: readonly T[];
  /** Ids of documents that cannot be read. */
  readonly unreadable: readonly string[];
}

export function readableIn<T extends object>(
  docs: readonly QueryDocumentSnapshot[],
  decode: (document: DocumentData, id: string) => T,
): Readable<T> {
  const items: T[] = [];
  const unreadable: string[] = [];
  for (const found of docs) {
    const item = ifDecodable(() => decode(found.data(), found.id));
    if (item) items.push(item);
    else unreadable.push(found.id);
  }
  return { items, unreadable };
}
