/**
 * Chooses the index for a conjunction in the query's order, or names the one that production would require. Pure;
 * uses definitions, not keys.
 */
import { type FieldPath, formatFieldPath } from '../field-path.ts';
import type {
  IndexConfig,
  IndexDefinition,
  IndexField,
  IndexKind,
  SingleField,
} from '../index/index-config.ts';
import type { Conjunction } from './disjunctions.ts';
import { indexLink } from './index-link.ts';
import { isNameField, sameField } from './normalise.ts';
import type { Comparison, FieldOrder, Query } from './query.ts';

/** The parts of a conjunction in the order of index fields: equalities, then the remaining orders. */
export interface IndexShape {
  readonly equalities: readonly Comparison[];
  /** At most one. */
  readonly contains: Comparison | undefined;
  /** Orders that an equality does not make constant, without `__name__`. */
  readonly orders: readonly FieldOrder[];
  readonly nameDescending: boolean;
}

export function shapeOf(query: Query, conjunction: Conjunction): IndexShape {
  const equalities = conjunction.filter((c) => c.op === '==' && !isNameField(c.field));
  const constant = (o: FieldOrder) => equalities.some((e) => sameField(e.field, o.field));
  const name = query.orders.find((o) => isNameField(o.field));
  return {
    equalities,
    contains: conjunction.find((c) => c.op === 'array-contains'),
    orders: beforeName(query.orders).filter((o) => !constant(o)),
    nameDescending: name?.descending ?? false,
  };
}

/** Orders after `__name__` have no effect, because names are unique. */
function beforeName(orders: readonly FieldOrder[]): readonly FieldOrder[] {
  const at = orders.findIndex((o) => isNameField(o.field));
  return at < 0 ? orders : orders.slice(0, at);
}

/** A composite whose leading fields are fixed by equalities and whose others are exactly the orders. */
export interface CompositeMatch {
  readonly index: IndexDefinition;
  /** Number of leading fields fixed by an equality or a membership. */
  readonly fixed: number;
}

export function compositesFor(config: IndexConfig, query: Query, shape: IndexShape): CompositeMatch[] {
  const { collectionId, allDescendants } = query.scope;
  if (collectionId === undefined) return [];
  return config
    .composites(collectionId)
    .filter((index) => index.group === allDescendants)
    .flatMap((index) => {
      const fixed = index.fields.length - shape.orders.length;
      const fits =
        fixed >= 0 &&
        index.fields.slice(0, fixed).every((f) => isFixed(shape, f)) &&
        index.fields.slice(fixed).every((f, i) => servesOrder(f, shape.orders[i] as FieldOrder)) &&
        (shape.orders.length === 0 || index.nameDescending === shape.nameDescending);
      return fits ? [{ index, fixed }] : [];
    });
}

function isFixed(shape: IndexShape, field: IndexField): boolean {
  if (field.kind === 'contains')
    return shape.contains !== undefined && sameField(shape.contains.field, field.path);
  return shape.equalities.some((e) => sameField(e.field, field.path));
}

function servesOrder(field: IndexField, order: FieldOrder): boolean {
  return sameField(field.path, order.field) && field.kind === directionOf(order.descending);
}

function directionOf(descending: boolean): IndexKind {
  return descending ? 'descending' : 'ascending';
}

/**
 * The fields of the missing index, or undefined if the existing indexes suffice. Several indexes with the same ending can together cover
 * all equalities, because production merges them.
 */
export function missingIndex(
  config: IndexConfig,
  query: Query,
  shape: IndexShape,
): readonly IndexField[] | undefined {
  const wanted: IndexField[] = [
    ...(shape.contains ? [{ path: shape.contains.field, kind: 'contains' as const }] : []),
    ...distinctFields(shape.equalities).map((path) => ({ path, kind: 'ascending' as const })),
  ];
  const covered = compositesFor(config, query, shape).flatMap(({ index, fixed }) =>
    index.fields.slice(0, fixed),
  );
  const isCovered = (field: IndexField) => covered.some((c) => sameField(c.path, field.path));
  const suffix = shape.orders.map((o) => ({ path: o.field, kind: directionOf(o.descending) }));
  if (suffix.length === 0) {
    const single = (f: IndexField) =>
      singleField(config, query, f.path).has(kindFor(f, shape.nameDescending));
    return wanted.every((f) => single(f) || isCovered(f)) ? undefined : wanted;
  }
  if (wanted.length === 0) return missingOrder(config, query, shape, suffix);
  return wanted.every(isCovered) ? undefined : [...wanted, ...suffix];
}

function missingOrder(
  config: IndexConfig,
  query: Query,
  shape: IndexShape,
  suffix: readonly IndexField[],
): readonly IndexField[] | undefined {
  const [first] = suffix;
  const oneField = suffix.length === 1 && first && (first.kind === 'descending') === shape.nameDescending;
  if (oneField && singleField(config, query, first.path).has(first.kind)) return undefined;
  return compositesFor(config, query, shape).length > 0 ? undefined : suffix;
}

function kindFor(field: IndexField, nameDescending: boolean): IndexKind {
  return field.kind === 'contains' ? 'contains' : directionOf(nameDescending);
}

export function singleField(config: IndexConfig, query: Query, path: FieldPath): SingleField {
  const indexes = config.field(query.scope.collectionId as string, path);
  return query.scope.allDescendants ? indexes.group : indexes.collection;
}

function distinctFields(comparisons: readonly Comparison[]): FieldPath[] {
  const fields = new Map(comparisons.map((c) => [formatFieldPath(c.field), c.field]));
  return [...fields.values()];
}

/** Production's message with its link, and the declaration to add to `firestore.indexes.json`. */
export function describeMissing(query: Query, shape: IndexShape, fields: readonly IndexField[]): string {
  const { scope } = query;
  const { collectionId: collectionGroup } = scope;
  const queryScope = scope.allDescendants ? 'COLLECTION_GROUP' : 'COLLECTION';
  const nameDiffers = fields.at(-1)?.kind === 'ascending' && shape.nameDescending;
  const [only] = fields;
  const single = fields.length === 1 && only && !nameDiffers ? only : undefined;
  const link = indexLink({ ...shape, scope, fields, isSingle: single !== undefined });
  const advice = `You can create it here: ${link} or add to firestore.indexes.json under`;
  if (single) {
    const fieldPath = formatFieldPath(single.path);
    const kind = { ascending: 'ASC', descending: 'DESC', contains: 'CONTAINS' }[single.kind];
    const override = { collectionGroup, fieldPath, indexes: [{ ...declaredKind(single), queryScope }] };
    return (
      `The query requires a ${queryScope}_${kind} index for collection ${collectionGroup} and field ${fieldPath}. ` +
      `${advice} fieldOverrides: ${JSON.stringify(override)}`
    );
  }
  const declared = fields.map((f) => ({ fieldPath: formatFieldPath(f.path), ...declaredKind(f) }));
  const index = { collectionGroup, queryScope, fields: declared };
  return `The query requires an index. ${advice} indexes: ${JSON.stringify(index)}`;
}

function declaredKind({ kind }: IndexField): object {
  return kind === 'contains' ? { arrayConfig: 'CONTAINS' } : { order: kind.toUpperCase() };
}
