/** The index entries of one document, and what changes between two versions of it. Pure. */
import { ByteWriter } from '../byte-writer.ts';
import { type FieldPath, getField } from '../field-path.ts';
import { MAX_INDEX_ENTRIES_PER_DOCUMENT } from '../limits.ts';
import { invalid } from '../status.ts';
import { type Fields, identical, membersOf, type Value } from '../value.ts';
import { writeValueKey } from '../value-key.ts';
import {
  type EntryScope,
  writeCompositePrefix,
  writeNamePrefix,
  writeNameSuffix,
  writeSinglePrefix,
} from './entry-layout.ts';
import type { IndexConfig, IndexDefinition, SingleField } from './index-config.ts';

interface IndexedPath {
  readonly database: number;
  /** Path segments of the document. */
  readonly segments: readonly string[];
  /** True if the documents of its collection group are listed by name, since a query needed it or they expire. */
  readonly isListed: boolean;
}

interface EntryDifference {
  readonly added: Buffer[];
  readonly removed: Buffer[];
}

const writer = new ByteWriter();

/**
 * Entries to add and remove so that the index matches `after`. Unchanged fields are skipped.
 *
 * @throws INVALID_ARGUMENT if `after` has too many entries; a delete is never refused
 */
export function entryDifference(
  config: IndexConfig,
  document: IndexedPath,
  versions: { before: Fields | undefined; after: Fields | undefined },
): EntryDifference {
  const { before, after } = versions;
  if (after) checkCount(config, document, after);
  if (!before) return { added: after ? listEntries(config, document, after).entries : [], removed: [] };
  if (!after) return { added: [], removed: listEntries(config, document, before).entries };
  const known = new Map<string, boolean>();
  const touched = (field: string) => {
    let isTouched = known.get(field);
    if (isTouched === undefined) {
      isTouched = !same(before.get(field), after.get(field));
      known.set(field, isTouched);
    }
    return isTouched;
  };
  const removed = new Map(
    listEntries(config, document, before, touched).entries.map((e) => [e.toString('latin1'), e]),
  );
  const added: Buffer[] = [];
  for (const entry of listEntries(config, document, after, touched).entries) {
    if (!removed.delete(entry.toString('latin1'))) added.push(entry);
  }
  return { added, removed: [...removed.values()] };
}

function same(a: Value | undefined, b: Value | undefined): boolean {
  return a === undefined || b === undefined ? a === b : identical(a, b);
}

function checkCount(config: IndexConfig, document: IndexedPath, fields: Fields): void {
  const { segments } = document;
  const composites = config.composites(segments.at(-2) as string).length;
  if (countValues(fields) * (MOST_BY_VALUE + composites) < MAX_INDEX_ENTRIES_PER_DOCUMENT) return;
  // Production lists every group and counts that entry.
  const { entries, mirrored } = listEntries(config, { ...document, isListed: true }, fields);
  const count = entries.length + mirrored;
  if (count <= MAX_INDEX_ENTRIES_PER_DOCUMENT) return;
  throw invalid(
    `Document "${segments.join('/')}" has too many index entries: ${count}, ` +
      `${MAX_INDEX_ENTRIES_PER_DOCUMENT} are allowed. Exempt fields that no query uses.`,
  );
}

/** Most entries of a value without composite indexes: both directions, in the collection and in the group. */
const MOST_BY_VALUE = 4;

/** Number of values with entries, including members of lists and maps and the document's name. */
function countValues(fields: Fields): number {
  let count = 1;
  for (const value of fields.values()) {
    count += 1 + (value.kind === 'array' ? value.values.length : 0);
    const members = membersOf(value);
    if (members) count += countValues(members);
  }
  return count;
}

interface EntryList {
  readonly entries: Buffer[];
  /** Entries that production has in addition: one for each direction of a field. Here one entry is read both ways. */
  readonly mirrored: number;
}

/** All entries; with `touched`, only those that depend on a top-level field for which it is true. */
function listEntries(
  config: IndexConfig,
  document: IndexedPath,
  fields: Fields,
  touched?: (field: string) => boolean,
): EntryList {
  const collectionId = document.segments.at(-2) as string;
  const collection: EntryScope = { kind: 'collection', path: document.segments.slice(0, -1) };
  const group: EntryScope = { kind: 'group', collectionId };
  const entries: Buffer[] = [];
  let mirrored = 0;
  const single = (path: FieldPath, value: Value) => {
    const indexes = config.field(collectionId, path);
    mirrored += Number(bothWays(indexes.collection)) + Number(bothWays(indexes.group));
    if (indexes.collection.size > 0)
      addSingle(entries, document, { scope: collection, path, value }, indexes.collection);
    if (indexes.group.size > 0) addSingle(entries, document, { scope: group, path, value }, indexes.group);
  };
  for (const [field, value] of fields)
    if (!config.isExempt(collectionId, field) && (!touched || touched(field))) walk([field], value, single);
  for (const index of config.composites(collectionId)) {
    if (touched && !index.fields.some((f) => touched(f.path[0] as string))) continue;
    addComposite(entries, document, { index, scope: index.group ? group : collection }, fields);
  }
  const isListed = document.isListed || config.expiry.has(collectionId);
  if (!touched && isListed) entries.push(nameEntry(document));
  return { entries, mirrored };
}

/** The entry of a document in the list of its collection group. */
export function nameEntry({ database, segments }: Omit<IndexedPath, 'isListed'>): Buffer {
  const group: EntryScope = { kind: 'group', collectionId: segments.at(-2) as string };
  writer.truncate(0);
  writeNamePrefix(writer, database, group);
  writeNameSuffix(writer, group, segments, false);
  return writer.take();
}

function bothWays(kinds: SingleField): boolean {
  return kinds.has('ascending') && kinds.has('descending');
}

/** A map is indexed as a whole and field by field; a vector only as a whole. */
function walk(path: FieldPath, value: Value, visit: (path: FieldPath, value: Value) => void): void {
  visit(path, value);
  for (const [key, child] of membersOf(value) ?? []) walk([...path, key], child, visit);
}

function addSingle(
  entries: Buffer[],
  { database, segments }: IndexedPath,
  entry: { scope: EntryScope; path: FieldPath; value: Value },
  kinds: SingleField,
): void {
  const { scope, path, value } = entry;
  if (kinds.has('ascending') || kinds.has('descending')) {
    writer.truncate(0);
    writeSinglePrefix(writer, database, { scope, path, contains: false });
    writeValueKey(writer, value);
    writeNameSuffix(writer, scope, segments, false);
    entries.push(writer.take());
  }
  if (value.kind !== 'array' || !kinds.has('contains')) return;
  writer.truncate(0);
  writeSinglePrefix(writer, database, { scope, path, contains: true });
  const start = writer.length;
  const seen = new Set<string>();
  for (const element of value.values) {
    writer.truncate(start);
    writeValueKey(writer, element);
    writeNameSuffix(writer, scope, segments, false);
    pushOnce(entries, seen, writer.take());
  }
}

function addComposite(
  entries: Buffer[],
  { database, segments }: IndexedPath,
  { index, scope }: { readonly index: IndexDefinition; readonly scope: EntryScope },
  fields: Fields,
): void {
  const values = index.fields.map((f) => getField(fields, f.path));
  if (values.includes(undefined)) return;
  const array = index.fields.findIndex((f) => f.kind === 'contains');
  const arrayValue = array < 0 ? undefined : values[array];
  if (arrayValue && arrayValue.kind !== 'array') return;
  const choices = arrayValue?.kind === 'array' ? arrayValue.values : [undefined];
  const seen = new Set<string>();
  for (const element of choices) {
    writer.truncate(0);
    writeCompositePrefix(writer, database, { index, scope });
    index.fields.forEach((field, i) => {
      const start = writer.length;
      writeValueKey(writer, field.kind === 'contains' ? (element as Value) : (values[i] as Value));
      if (field.kind === 'descending') writer.invertFrom(start);
    });
    writeNameSuffix(writer, scope, segments, index.nameDescending);
    pushOnce(entries, seen, writer.take());
  }
}

function pushOnce(entries: Buffer[], seen: Set<string>, entry: Buffer): void {
  const key = entry.toString('latin1');
  if (seen.has(key)) return;
  seen.add(key);
  entries.push(entry);
}
