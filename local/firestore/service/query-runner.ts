/** Runs a query against one database at one moment. Owns how candidates are found; matching is the model's. */

import { prefixEnd } from '../model/byte-writer.ts';
import { collectionPrefix, levelPrefix } from '../model/document-key.ts';
import { MAX_COLLECTION_DEPTH } from '../model/limits.ts';
import type { Query, QueryScope } from '../model/query.ts';
import { type Candidate, compareCandidates, matches, withinCursors } from '../model/query-match.ts';
import type { DocumentStorage, StoredDocument } from '../storage/document-storage.ts';
import { decodeDocument } from '../wire/document-codec.ts';

export interface Found extends Candidate {
  readonly stored: StoredDocument;
}

/** Rows fetched in one go: enough to amortise the call, few enough that a small limit reads little. */
const PAGE = 256;

/** The matching documents in order, after cursors, before offset and limit. */
export function matching(storage: DocumentStorage, database: number, query: Query): Found[] {
  const found: Found[] = [];
  for (const stored of documentsIn(storage, database, query.scope)) {
    const { name, fields } = decodeDocument(stored.body);
    const candidate = { name, fields, stored };
    if (matches(query, candidate) && withinCursors(query, candidate)) found.push(candidate);
  }
  return found.sort((a, b) => compareCandidates(query.orders, a, b));
}

function* documentsIn(
  storage: DocumentStorage,
  database: number,
  scope: QueryScope,
): Generator<StoredDocument> {
  if (!scope.allDescendants) {
    const prefix = collectionPrefix(database, [...scope.parent, scope.collectionId as string]);
    yield* pages(storage, prefix);
    return;
  }
  for (let level = scope.parent.length + 2; level <= MAX_COLLECTION_DEPTH * 2; level += 2) {
    for (const stored of pages(storage, levelPrefix(database, level, scope.parent))) {
      if (scope.collectionId === undefined || collectionOf(stored) === scope.collectionId) yield stored;
    }
  }
}

function collectionOf(stored: StoredDocument): string | undefined {
  return decodeDocument(stored.body).name.split('/').at(-2);
}

function* pages(storage: DocumentStorage, prefix: Buffer): Generator<StoredDocument> {
  const to = prefixEnd(prefix);
  let from: Uint8Array = prefix;
  for (;;) {
    const page = storage.scanDocuments({ from, to, reverse: false, limit: PAGE });
    yield* page;
    if (page.length < PAGE) return;
    from = Buffer.concat([(page.at(-1) as StoredDocument).key, Buffer.from([0])]);
  }
}
