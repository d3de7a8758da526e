/** Plans one conjunction: which entries or documents to read, between which keys. Pure. */
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
import { type Bounds, comparisonBounds, cursorBounds, narrow, wholePrefix } from './key-bounds.ts';
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
      /** The entries are the list of this collection group, which is to be kept from now on. */
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

interface BoundsOptions {
  readonly conjunction: Conjunction;
  readonly shape: IndexShape;
  /** For each ordered field in the key: whether it is stored inverted. */
  readonly inverted: readonly boolean[];
  /** True if the name is descending. */
  readonly nameDescending: boolean;
  /** True if the scan runs in reverse key order. */
  readonly reverse: boolean;
}

export class Planner {
  readonly #query: Query;
  readonly #config: IndexConfig;
  readonly #database: number;
  readonly #scope: EntryScope;
  readonly #collection: readonly string[];

  constructor(query: Query, config: IndexConfig, database: number) {
    this.#query = query;
    this.#config = config;
    this.#database = database;
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
    const composite = widest(compositesFor(this.#config, this.#query, shape));
    if (composite) return this.#composite(composite, conjunction, shape);
    const single = this.#single(conjunction, shape);
    if (single) return single;
    return this.#byName(conjunction, shape.orders.length === 0, shape.nameDescending);
  }

  #composite({ index, fixed }: CompositeMatch, conjunction: Conjunction, shape: IndexShape): Source {
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

  /** By the index of one field: in order if that is the query's order, otherwise to narrow what has to be sorted. */
  #single(conjunction: Conjunction, shape: IndexShape): Source | undefined {
    const [order] = shape.orders;
    const fixed = this.#fixedByOne(shape);
    if (fixed && shape.orders.length === 0) return this.#onePrefix(fixed, conjunction, shape, true);
    const inOrder = shape.orders.length === 1 && order && order.descending === shape.nameDescending;
    if (order && !fixed && this.#isOrdered(order.field)) {
      const prefix = this.#singlePrefix(order.field, false).take();
      const reverse = order.descending;
      const options = { conjunction, shape, inverted: [false], nameDescending: false, reverse };
      const bounds = this.#bounds(prefix, options, Boolean(inOrder));
      const index = singleIndex(order.field, reverse);
      return { kind: 'entries', index, bounds, reverse, ordered: Boolean(inOrder) };
    }
    return fixed && this.#onePrefix(fixed, conjunction, shape, false);
  }

  #fixedByOne(shape: IndexShape): Comparison | undefined {
    const { contains } = shape;
    const equality = shape.equalities.find((e) => this.#isOrdered(e.field));
    if (equality) return equality;
    return contains && singleField(this.#config, this.#query, contains.field).has('contains')
      ? contains
      : undefined;
  }

  #onePrefix(comparison: Comparison, conjunction: Conjunction, shape: IndexShape, ordered: boolean): Source {
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

  /** The range under a prefix that inequalities on the first ordered field, and cursors, leave. */
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

  /** False when the cursor names a document outside the collection: its place is not a key of this scope. */
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

/** The one that fixes most fields reads least; of several the one of an array, since a document has few of the values that there are. */
function widest(matches: readonly CompositeMatch[]): CompositeMatch | undefined {
  return matches.reduce<CompositeMatch | undefined>(
    (best, match) => (best && breadth(best) >= breadth(match) ? best : match),
    undefined,
  );
}

function breadth({ index, fixed }: CompositeMatch): number {
  const hasArray = index.fields.slice(0, fixed).some(({ kind }) => kind === 'contains');
  return fixed + (hasArray ? 1 / 2 : 0);
}
