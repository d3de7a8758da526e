/** Plans one conjunction: the key ranges of entries or documents to read. Pure, given the number of entries of ranges. */
import { ByteWriter } from '../byte-writer.ts';
import { collectionPrefix, documentKey } from '../document-key.ts';
import {
  type EntryScope,
  writeCompositePrefix,
  writeNamePrefix,
  writeNameSuffix,
  writeSinglePrefix,
} from '../index/entry-layout.ts';
import type { IndexConfig } from '../index/index-config.ts';
import { parseDocument } from '../resource-name.ts';
import type { Value } from '../value.ts';
import { writeSegmentKey, writeValueKey } from '../value-key.ts';
import type { Conjunction } from './disjunctions.ts';
import { type CompositeMatch, compositesFor, type IndexShape, singleField } from './index-choice.ts';
import { type Bounds, comparisonBounds, cursorBounds, isEmpty, narrow, wholePrefix } from './key-bounds.ts';
import { isInequality, isNameField, sameField } from './normalise.ts';
import type { Comparison, Cursor, Query } from './query.ts';
import { nameIndex, singleIndex, type UsedIndex } from './used-index.ts';

export type Source =
  /** Documents by key. */
  | {
      readonly kind: 'documents';
      readonly index: UsedIndex;
      readonly bounds: Bounds;
      readonly reverse: boolean;
      readonly ordered: boolean;
    }
  /** Documents by index entry. */
  | {
      readonly kind: 'entries';
      /** Set if the source needs the name list of this collection group, which must be kept from now on. */
      readonly listOf?: string;
      readonly index: UsedIndex;
      readonly bounds: Bounds;
      readonly reverse: boolean;
      readonly ordered: boolean;
    }
  /** One document. */
  | { readonly kind: 'one'; readonly key: Uint8Array; readonly ordered: true }
  /** Every document below the parent, whatever its collection. */
  | { readonly kind: 'everything'; readonly ordered: false };

/** Number of index entries in a range, counted up to `most`. */
type CountEntries = (bounds: Bounds, most: number) => number;

type EntrySource = Source & { readonly kind: 'entries' };

/** Most entries that are counted to choose an index. Counting them takes less time than reading a few documents in vain. */
const MOST_COUNTED = 1_000;

interface BoundsOptions {
  readonly conjunction: Conjunction;
  readonly shape: IndexShape;
  /** For each ordered field in the key: whether it is stored inverted. */
  readonly inverted: readonly boolean[];
  readonly nameDescending: boolean;
  /** True if the scan runs in reverse key order. */
  readonly reverse: boolean;
}

/** The parts of a database that a plan depends on. */
export interface PlannedDatabase {
  readonly config: IndexConfig;
  readonly database: number;
  readonly countEntries: CountEntries;
}

export class Planner {
  readonly #query: Query;
  readonly #config: IndexConfig;
  readonly #database: number;
  readonly #countEntries: CountEntries;
  readonly #scope: EntryScope;
  readonly #collection: readonly string[];

  constructor(query: Query, { config, database, countEntries }: PlannedDatabase) {
    this.#query = query;
    this.#config = config;
    this.#database = database;
    this.#countEntries = countEntries;
    const { parent, allDescendants } = query.scope;
    const collectionId = query.scope.collectionId as string;
    this.#collection = [...parent, collectionId];
    this.#scope = allDescendants
      ? { kind: 'group', collectionId }
      : { kind: 'collection', path: this.#collection };
  }

  source(conjunction: Conjunction, shape: IndexShape): Source {
    const named = conjunction.find((c) => isNameField(c.field) && c.op === '==');
    if (named) return { kind: 'one', key: this.#keyOf(named.value), ordered: true };
    const composites = widestFirst(compositesFor(this.#config, this.#query, shape));
    const composite = this.#smallest(composites.map((match) => this.#composite(match, conjunction, shape)));
    if (composite) return composite;
    const single = this.#single(conjunction, shape);
    if (single) return single;
    return this.#byName(conjunction, shape.orders.length === 0, shape.nameDescending);
  }

  #composite({ index, fixed }: CompositeMatch, conjunction: Conjunction, shape: IndexShape): EntrySource {
    const writer = new ByteWriter();
    writeCompositePrefix(writer, this.#database, { index, scope: this.#scope });
    for (const field of index.fields.slice(0, fixed)) {
      const start = writer.length;
      const op = field.kind === 'contains' ? 'array-contains' : '==';
      const comparison = conjunction.find((c) => c.op === op && sameField(c.field, field.path)) as Comparison;
      writeValueKey(writer, comparison.value);
      if (field.kind === 'descending') writer.invertFrom(start);
    }
    const inverted = index.fields.slice(fixed).map((f) => f.kind === 'descending');
    const reverse = shape.orders.length === 0 && index.nameDescending !== shape.nameDescending;
    const { nameDescending } = index;
    const bounds = this.#bounds(writer.take(), { conjunction, shape, inverted, nameDescending, reverse });
    return { kind: 'entries', index, bounds, reverse, ordered: true };
  }

  /** The source with the fewest entries, or the first one if all have many. */
  #smallest(sources: readonly EntrySource[]): EntrySource | undefined {
    let [best] = sources;
    if (sources.length < 2) return best;
    let least = MOST_COUNTED;
    for (const source of sources) {
      const count = isEmpty(source.bounds) ? 0 : this.#countEntries(source.bounds, least);
      if (count < least) [best, least] = [source, count];
      if (least === 0) break;
    }
    return best;
  }

  /** A source by the index of one field: in the query's order if possible, otherwise to reduce the documents to sort. */
  #single(conjunction: Conjunction, shape: IndexShape): Source | undefined {
    const [order] = shape.orders;
    const ordered = order === undefined;
    const fixed = this.#fixedByOne(shape);
    const prefixes = () =>
      fixed.map((comparison) => this.#onePrefix(comparison, conjunction, shape, ordered));
    if (ordered) return this.#smallest(prefixes());
    const inOrder = shape.orders.length === 1 && order.descending === shape.nameDescending;
    if (fixed.length === 0 && this.#isOrdered(order.field)) {
      const prefix = this.#singlePrefix(order.field, false).take();
      const reverse = order.descending;
      const options = { conjunction, shape, inverted: [false], nameDescending: false, reverse };
      const bounds = this.#bounds(prefix, options, inOrder);
      const index = singleIndex(order.field, reverse);
      return { kind: 'entries', index, bounds, reverse, ordered: inOrder };
    }
    return this.#smallest(prefixes());
  }

  /** Comparisons that the index of their field serves. */
  #fixedByOne({ equalities, contains }: IndexShape): readonly Comparison[] {
    const fixed = equalities.filter((e) => this.#isOrdered(e.field));
    const hasContains = contains && singleField(this.#config, this.#query, contains.field).has('contains');
    return hasContains ? [...fixed, contains] : fixed;
  }

  #onePrefix(
    comparison: Comparison,
    conjunction: Conjunction,
    shape: IndexShape,
    ordered: boolean,
  ): EntrySource {
    const writer = this.#singlePrefix(comparison.field, comparison.op === 'array-contains');
    writeValueKey(writer, comparison.value);
    const reverse = ordered && shape.nameDescending;
    const options = { conjunction, shape, inverted: [], nameDescending: false, reverse };
    const bounds = this.#bounds(writer.take(), options, ordered);
    const index = singleIndex(comparison.field, reverse, comparison.op === 'array-contains');
    return { kind: 'entries', index, bounds, reverse, ordered };
  }

  #singlePrefix(path: readonly string[], contains: boolean): ByteWriter {
    const writer = new ByteWriter();
    writeSinglePrefix(writer, this.#database, { scope: this.#scope, path, contains });
    return writer;
  }

  #isOrdered(path: readonly string[]): boolean {
    const kinds = singleField(this.#config, this.#query, path);
    return kinds.has('ascending') || kinds.has('descending');
  }

  #byName(conjunction: Conjunction, ordered: boolean, descending: boolean): Source {
    const reverse = ordered && descending;
    const shape = { equalities: [], contains: undefined, orders: [], nameDescending: descending };
    const options = { conjunction, shape, inverted: [], nameDescending: false, reverse };
    if (this.#scope.kind === 'collection') {
      const prefix = collectionPrefix(this.#database, this.#collection);
      const bounds = this.#nameBounds(prefix, options, ordered);
      return { kind: 'documents', index: nameIndex(reverse), bounds, reverse, ordered };
    }
    const writer = new ByteWriter();
    writeNamePrefix(writer, this.#database, this.#scope);
    const prefix = writer.take();
    for (const segment of this.#query.scope.parent) writeSegmentKey(writer, segment);
    const bounds = narrow(this.#nameBounds(prefix, options, ordered), wholePrefix(writer.take()));
    const { collectionId: listOf } = this.#scope;
    return { kind: 'entries', listOf, index: nameIndex(reverse), bounds, reverse, ordered };
  }

  /** Like `#bounds`, narrowed by comparisons with the name as well. */
  #nameBounds(prefix: Uint8Array, options: BoundsOptions, ordered: boolean): Bounds {
    let bounds = this.#bounds(prefix, options, ordered);
    for (const { field, op, value } of options.conjunction) {
      if (!isNameField(field) || op === '!=' || op === 'not-in') continue;
      const writer = new ByteWriter();
      writer.raw(prefix);
      if (!this.#writeName(writer, value, false)) continue;
      const cursor = { before: op === '>=' || op === '<', start: op === '>=' || op === '>' };
      bounds = narrow(bounds, cursorBounds(writer.take(), cursor, false));
    }
    return bounds;
  }

  /** The range under a prefix, narrowed by inequalities on the first ordered field and by cursors. */
  #bounds(prefix: Uint8Array, options: BoundsOptions, ordered = true): Bounds {
    const { conjunction, shape, inverted, reverse } = options;
    let bounds = wholePrefix(prefix);
    const [first] = shape.orders;
    if (first && inverted.length > 0) {
      for (const comparison of conjunction) {
        if (!isInequality(comparison.op) || !sameField(comparison.field, first.field)) continue;
        bounds = narrow(bounds, comparisonBounds(prefix, comparison, inverted[0] as boolean));
      }
    }
    const { startAt, endAt, orders } = this.#query;
    // Orders made constant by an equality are not in the key, so cursor values would not line up with it.
    const aligned = ordered && orders.length === shape.orders.length + 1;
    if (!aligned) return bounds;
    for (const [cursor, start] of [
      [startAt, true],
      [endAt, false],
    ] as const) {
      const key = cursor && this.#cursorKey(prefix, cursor, options);
      if (cursor && key)
        bounds = narrow(bounds, cursorBounds(key, { before: cursor.before, start }, reverse));
    }
    return bounds;
  }

  #cursorKey(
    prefix: Uint8Array,
    cursor: Cursor,
    options: { inverted: readonly boolean[]; nameDescending: boolean },
  ): Uint8Array | undefined {
    const writer = new ByteWriter();
    writer.raw(prefix);
    for (const [i, value] of cursor.values.entries()) {
      const start = writer.length;
      const inverted = options.inverted[i];
      if (inverted === undefined) {
        if (!this.#writeName(writer, value, options.nameDescending)) return undefined;
        continue;
      }
      writeValueKey(writer, value);
      if (inverted) writer.invertFrom(start);
    }
    return writer.take();
  }

  /** False if the cursor names a document outside the collection, whose position is not a key of this scope. */
  #writeName(writer: ByteWriter, value: Value, descending: boolean): boolean {
    if (value.kind !== 'reference') return false;
    const { segments } = parseDocument(value.value);
    if (this.#scope.kind === 'collection') {
      const inside = segments.length === this.#collection.length + 1;
      if (!inside || !this.#collection.every((s, i) => s === segments[i])) return false;
    }
    writeNameSuffix(writer, this.#scope, segments, descending);
    return true;
  }

  #keyOf(value: Value): Uint8Array {
    const name = value.kind === 'reference' ? value.value : '';
    return documentKey(this.#database, parseDocument(name).segments);
  }
}

/**
 * Sorts matches by the number of fixed fields and omits those whose fixed fields another match fixes too. Among equals, an array
 * membership comes first, because it is more selective.
 */
function widestFirst(matches: readonly CompositeMatch[]): readonly CompositeMatch[] {
  const sorted = matches.toSorted((a, b) => breadth(b) - breadth(a));
  return sorted.filter((match, at) => !sorted.slice(0, at).some((wider) => fixesAllOf(wider, match)));
}

function fixesAllOf(wider: CompositeMatch, { index, fixed }: CompositeMatch): boolean {
  const widerFields = wider.index.fields.slice(0, wider.fixed);
  return index.fields
    .slice(0, fixed)
    .every(({ path, kind }) =>
      widerFields.some((w) => sameField(w.path, path) && (w.kind === 'contains') === (kind === 'contains')),
    );
}

function breadth({ index, fixed }: CompositeMatch): number {
  const hasArray = index.fields.slice(0, fixed).some(({ kind }) => kind === 'contains');
  return fixed + (hasArray ? 1 / 2 : 0);
}
