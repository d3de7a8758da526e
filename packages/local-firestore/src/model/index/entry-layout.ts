/**
 * The bytes of index entries: a prefix, the values and the document's name. Writers and readers of entries share this code, so that
 * they cannot disagree. Pure.
 *
 *     database · kind · scope (and field, or index number) · values · name
 */
import type { ByteWriter } from '../byte-writer.ts';
import { type FieldPath, formatFieldPath } from '../field-path.ts';
import { writeSegmentKey } from '../value-key.ts';
import type { IndexDefinition } from './index-config.ts';

const KIND = { ordered: 1, contains: 2, name: 3, composite: 4 } as const;
/** Smaller than the mark of any segment. */
const PATH_END = 0;
const IN_COLLECTION = 1;
const IN_GROUP = 2;

/** Scope of entries: one collection (its path), or every collection of an id. */
export type EntryScope =
  | { readonly kind: 'collection'; readonly path: readonly string[] }
  | { readonly kind: 'group'; readonly collectionId: string };

export function writeSinglePrefix(
  out: ByteWriter,
  database: number,
  entry: { scope: EntryScope; path: FieldPath; contains: boolean },
): void {
  out.u16(database);
  out.u8(entry.contains ? KIND.contains : KIND.ordered);
  writeScope(out, entry.scope);
  out.terminatedText(formatFieldPath(entry.path));
}

export function writeCompositePrefix(
  out: ByteWriter,
  database: number,
  entry: { index: IndexDefinition; scope: EntryScope },
): void {
  out.u16(database);
  out.u8(KIND.composite);
  out.u16(entry.index.id);
  writeScope(out, entry.scope);
}

/** Entries that list the documents of a collection group by name. */
export function writeNamePrefix(out: ByteWriter, database: number, scope: EntryScope): void {
  out.u16(database);
  out.u8(KIND.name);
  writeScope(out, scope);
}

/** The end of an entry, with enough of the document's path to order documents within the scope. */
export function writeNameSuffix(
  out: ByteWriter,
  scope: EntryScope,
  segments: readonly string[],
  descending: boolean,
): void {
  const start = out.length;
  const from = scope.kind === 'collection' ? scope.path.length : 0;
  for (let i = from; i < segments.length; i++) writeSegmentKey(out, segments[i] as string);
  // In a group one document's path can be a prefix of another's. The end mark keeps their order, also when inverted.
  if (scope.kind === 'group') out.u8(PATH_END);
  if (descending) out.invertFrom(start);
}

function writeScope(out: ByteWriter, scope: EntryScope): void {
  if (scope.kind === 'collection') {
    out.u8(IN_COLLECTION);
    out.u8(scope.path.length);
    for (const segment of scope.path) writeSegmentKey(out, segment);
  } else {
    out.u8(IN_GROUP);
    writeSegmentKey(out, scope.collectionId);
  }
}
