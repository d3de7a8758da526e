/**
 * What exists below a path: documents level by level, and the distinct ids right below it, found by seeking rather than
 * by reading what lies between.
 */
import { ByteWriter, prefixEnd } from '../model/byte-writer.ts';
import { levelPrefix } from '../model/document-key.ts';
import { MAX_COLLECTION_DEPTH } from '../model/limits.ts';
import { compareSegments } from '../model/value.ts';
import { writeSegmentKey } from '../model/value-key.ts';
import type { DocumentStorage, StoredDocument } from '../storage/document-storage.ts';
import { decodeName } from '../wire/document-codec.ts';

/** Rows fetched in one go: enough to amortise the call, few enough that a small limit reads little. */
const PAGE = 256;

export interface Place {
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

/** Documents in key order; with `after`, those whose next segment comes after that id. */
export function* documentsWithPrefix(
  storage: DocumentStorage,
  prefix: Buffer,
  after?: string,
): Generator<StoredDocument> {
  const to = prefixEnd(prefix);
  let from: Uint8Array = after === undefined ? prefix : keyAfter(prefix, after);
  for (;;) {
    const page = storage.scanDocuments({ from, to, reverse: false, limit: PAGE });
    yield* page;
    if (page.length < PAGE) return;
    from = Buffer.concat([(page.at(-1) as StoredDocument).key, Buffer.from([0])]);
  }
}

/** The ids right below `segments` that hold documents, themselves or further down, in order; those after `after`. */
export function* childIds(place: Place, after?: string): Generator<string> {
  let cursors = levelsBelow(place.segments).flatMap((level) => next(place, level, after));
  while (cursors.length > 0) {
    const least = cursors.reduce((a, b) => (compareSegments(a.id, b.id) <= 0 ? a : b)).id;
    yield least;
    cursors = cursors.flatMap((c) => (c.id === least ? next(place, c.level, least) : [c]));
  }
}

function keyAfter(prefix: Buffer, id: string): Buffer {
  const writer = new ByteWriter();
  writer.raw(prefix);
  writeSegmentKey(writer, id);
  writer.u8(0);
  return writer.take();
}

interface LevelCursor {
  readonly level: number;
  readonly id: string;
}

function next(
  { storage, database, segments }: Place,
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
