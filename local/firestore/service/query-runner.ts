/** Runs a query against one database at one moment. Owns how candidates are found; matching is the model's. */

import { collectionPrefix, levelPrefix } from '../model/document-key.ts';
import type { Query, QueryScope } from '../model/query.ts';
import { type Candidate, compareCandidates, matches, withinCursors } from '../model/query-match.ts';
import type { DocumentStorage, StoredDocument } from '../storage/document-storage.ts';
import { decodeDocument, decodeName } from '../wire/document-codec.ts';
import { documentsWithPrefix, levelsBelow } from './path-scan.ts';

export interface Found extends Candidate {
  readonly stored: StoredDocument;
}

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
    yield* documentsWithPrefix(
      storage,
      collectionPrefix(database, [...scope.parent, scope.collectionId as string]),
    );
    return;
  }
  for (const level of levelsBelow(scope.parent)) {
    for (const stored of documentsWithPrefix(storage, levelPrefix(database, level, scope.parent))) {
      if (
        scope.collectionId === undefined ||
        decodeName(stored.body).split('/').at(-2) === scope.collectionId
      ) {
        yield stored;
      }
    }
  }
}
