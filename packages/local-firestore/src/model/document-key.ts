/**
 * Keys under which documents are stored. A collection's documents are one contiguous range in name order, regardless of
 * subcollections, because the depth comes before the path. Pure.
 */
import { ByteWriter } from './byte-writer.ts';
import { writeSegmentKey } from './value-key.ts';

const writer = new ByteWriter();

/** `database` is the storage's number for the database; `segments` name a document. */
export function documentKey(database: number, segments: readonly string[]): Buffer {
  return levelPrefix(database, segments.length, segments);
}

/** The prefix of the keys of all documents directly in a collection. */
export function collectionPrefix(database: number, collection: readonly string[]): Buffer {
  return levelPrefix(database, collection.length + 1, collection);
}

/** The prefix of all documents `level` segments deep whose path starts with `segments`. */
export function levelPrefix(database: number, level: number, segments: readonly string[]): Buffer {
  writer.truncate(0);
  writer.u16(database);
  writer.u8(level);
  for (const segment of segments) writeSegmentKey(writer, segment);
  return writer.take();
}

/** The prefix of every key of a database. */
export function databasePrefix(database: number): Buffer {
  writer.truncate(0);
  writer.u16(database);
  return writer.take();
}
