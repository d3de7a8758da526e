/**
 * Lists below a path: documents level by level, and the distinct ids directly below it. Seeks from id to id, without reading the
 * documents between them.
 */
import { prefixEnd } from '../model/byte-writer.ts';
import { levelPrefix } from '../model/document-key.ts';
import { MAX_COLLECTION_DEPTH } from '../model/limits.ts';
import { compareSegments } from '../model/value.ts';
import type { DocumentStorage, StoredDocument } from '../storage/document-storage.ts';
import { decodeName } from '../wire/document-codec.ts';
import type { Snapshot } from './transactions/snapshot.ts';

/** Rows of one fetch: enough to amortise the call, few enough for small limits. */
const PAGE = 256;

interface ScannedPath {
  readonly storage: DocumentStorage;
  readonly database: number;
  readonly segments: readonly string[];
}

/** The levels below a path at which documents can exist: 2, 4, … segments. */
export function levelsBelow(segments: readonly string[]): number[] {
  const levels: number[] = [];
  const first = segments.length + (segments.length % 2 === 0 ? 2 : 1);
  for (let level = first; level <= MAX_COLLECTION_DEPTH * 2; level += 2) levels.push(level);
  return levels;
}

/** Documents in key order. */
export function* documentsWithPrefix(storage: DocumentStorage, prefix: Buffer): Generator<StoredDocument> {
  const to = prefixEnd(prefix);
  let from: Uint8Array = prefix;
  for (;;) {
    const page = storage.scanDocuments({ from, to, reverse: false, limit: PAGE });
    yield* page;
    if (page.length < PAGE) return;
    from = Buffer.concat([(page.at(-1) as StoredDocument).key, Buffer.from([0])]);
  }
}

/** The ids directly below `segments` with documents at or below them, in order, after `after`. */
export function* childIds(place: ScannedPath, after?: string): Generator<string> {
  let cursors = levelsBelow(place.segments).flatMap((level) => next(place, level, after));
  while (cursors.length > 0) {
    const least = cursors.reduce((a, b) => (compareSegments(a.id, b.id) <= 0 ? a : b)).id;
    yield least;
    cursors = cursors.flatMap((c) => (c.id === least ? next(place, c.level, least) : [c]));
  }
}

/** Like {@link childIds} at a past moment: unchanged documents, and those kept by the snapshot. */
export function* childIdsAt(place: ScannedPath, snapshot: Snapshot, after?: string): Generator<string> {
  const ids = keptIds(place, snapshot).filter((id) => after === undefined || compareSegments(id, after) > 0);
  for (const id of childIds(place, after)) {
    while (ids[0] !== undefined && compareSegments(ids[0], id) < 0) yield ids.shift() as string;
    if (ids[0] === id) yield ids.shift() as string;
    else if (isUnchangedBelow(place, id, snapshot)) yield id;
  }
  yield* ids;
}

function keptIds({ segments }: ScannedPath, snapshot: Snapshot): string[] {
  const ids = new Set<string>();
  for (const { body } of snapshot.documents()) {
    const path = decodeName(body).split('/').slice(ROOT_SEGMENTS);
    const id = path[segments.length];
    if (id !== undefined && segments.every((s, i) => s === path[i])) ids.add(id);
  }
  return [...ids].sort(compareSegments);
}

function isUnchangedBelow(
  { storage, database, segments }: ScannedPath,
  id: string,
  snapshot: Snapshot,
): boolean {
  const path = [...segments, id];
  return levelsBelow(segments).some((level) => {
    for (const { body } of documentsWithPrefix(storage, levelPrefix(database, level, path))) {
      if (!snapshot.has(decodeName(body))) return true;
    }
    return false;
  });
}

interface LevelCursor {
  readonly level: number;
  readonly id: string;
}

function next(
  { storage, database, segments }: ScannedPath,
  level: number,
  after: string | undefined,
): LevelCursor[] {
  const prefix = levelPrefix(database, level, segments);
  const from = after === undefined ? prefix : prefixEnd(levelPrefix(database, level, [...segments, after]));
  if (!from) return [];
  const [found] = storage.scanDocuments({ from, to: prefixEnd(prefix), reverse: false, limit: 1 });
  if (!found) return [];
  const path = decodeName(found.body).split('/').slice(ROOT_SEGMENTS);
  return [{ level, id: path[segments.length] as string }];
}

/** `projects/{p}/databases/{d}/documents` */
const ROOT_SEGMENTS = 5;
