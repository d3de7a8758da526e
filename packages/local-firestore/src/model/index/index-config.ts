/**
 * The indexes of a database: automatic single-field ones, exemptions and composites, as `firestore.indexes.json` declares
 * them. Reads the file's contents; opens no file. Pure.
 */
import { type FieldPath, formatFieldPath, NAME_FIELD, parseFieldPath } from '../field-path.ts';
import { type DeclaredVector, readVectorField, type VectorIndex } from './vector-index.ts';

export type IndexKind = 'ascending' | 'descending' | 'contains';

export interface IndexField {
  readonly path: FieldPath;
  readonly kind: IndexKind;
}

export interface IndexDefinition {
  /** Its number in this configuration; part of the keys of its entries. */
  readonly id: number;
  readonly collectionId: string;
  /** True for all collections of this id; false for each collection alone. */
  readonly group: boolean;
  /** Without `__name__`, which every index ends with. */
  readonly fields: readonly IndexField[];
  readonly nameDescending: boolean;
}

/** The single-field indexes of one field, in one scope. */
export type SingleField = ReadonlySet<IndexKind>;

export interface FieldIndexes {
  readonly collection: SingleField;
  readonly group: SingleField;
}

export interface IndexConfig {
  /** True when queries without their index are refused, as production does. */
  readonly enforced: boolean;
  /** Equal for configurations with equal entries; stored entries are rebuilt when it changes. */
  readonly fingerprint: string;
  composites(collectionId: string): readonly IndexDefinition[];
  vectors(collectionId: string): readonly VectorIndex[];
  field(collectionId: string, path: FieldPath): FieldIndexes;
  /** True if no value in this top-level field, at any depth, has a single-field index. */
  isExempt(collectionId: string, field: string): boolean;
  /** The field that holds the expiry time of documents, by collection id. */
  readonly expiry: ReadonlyMap<string, FieldPath>;
}

/** The supported parts of `firestore.indexes.json`; anything else is an error. */
export interface IndexesFile {
  readonly indexes?: readonly DeclaredIndex[];
  readonly fieldOverrides?: readonly DeclaredOverride[];
}

interface DeclaredIndex {
  readonly collectionGroup: string;
  readonly queryScope?: string;
  readonly fields: readonly DeclaredField[];
}

interface DeclaredField extends DeclaredVector {
  readonly order?: string;
  readonly arrayConfig?: string;
}

interface DeclaredOverride {
  readonly collectionGroup: string;
  readonly fieldPath: string;
  readonly ttl?: boolean;
  readonly indexes?: readonly { order?: string; arrayConfig?: string; queryScope?: string }[];
}

const ALL: SingleField = new Set<IndexKind>(['ascending', 'descending', 'contains']);
const NONE: SingleField = new Set();
const AUTOMATIC: FieldIndexes = { collection: ALL, group: NONE };
const NO_COMPOSITES: readonly IndexDefinition[] = [];
const NO_VECTORS: readonly VectorIndex[] = [];
/** Change it with the layout of entries, so that entries of an older layout are rebuilt. */
const LAYOUT = 'entries-2';

/** Without a file every field has its automatic indexes, and no query is refused. */
export const AUTOMATIC_INDEXES: IndexConfig = {
  enforced: false,
  fingerprint: LAYOUT,
  composites: () => NO_COMPOSITES,
  vectors: () => NO_VECTORS,
  field: () => AUTOMATIC,
  isExempt: () => false,
  expiry: new Map(),
};

/** @throws Error with the problem of the declaration. */
export function readIndexConfig(file: IndexesFile): IndexConfig {
  const composites = new Map<string, IndexDefinition[]>();
  const vectors = new Map<string, VectorIndex[]>();
  (file.indexes ?? []).forEach((declared, id) => {
    const vector = readVectorField(declared.fields, `index ${id} on ${declared.collectionGroup}`);
    if (vector) add(vectors, { ...readVector(declared, id), ...vector });
    else add(composites, readComposite(declared, id));
  });
  const overrides = new Map<string, FieldIndexes>();
  const expiry = new Map<string, FieldPath>();
  for (const override of file.fieldOverrides ?? []) {
    if (override.indexes) overrides.set(overrideKey(override), readOverride(override));
    if (override.ttl) expiry.set(override.collectionGroup, parseFieldPath(override.fieldPath));
  }
  const field = remembering((collectionId, path) => lookUp(overrides, collectionId, path));
  const exempt = remembering((collectionId, path) => isExemptBy(overrides, collectionId, path));
  return {
    enforced: true,
    fingerprint: `${LAYOUT} ${JSON.stringify([file.indexes ?? [], file.fieldOverrides ?? []])}`,
    composites: (collectionId) => composites.get(collectionId) ?? NO_COMPOSITES,
    vectors: (collectionId) => vectors.get(collectionId) ?? NO_VECTORS,
    field,
    isExempt: (collectionId, name) => exempt(collectionId, [name]),
    expiry,
  };
}

function add<T extends { readonly collectionId: string }>(map: Map<string, T[]>, index: T): void {
  const list = map.get(index.collectionId);
  if (list) list.push(index);
  else map.set(index.collectionId, [index]);
}

/** Size at which the cache of fields is cleared. It helps because field names repeat from document to document. */
const REMEMBERED_FIELDS = 10_000;

function remembering<T>(find: (collectionId: string, path: FieldPath) => T): typeof find {
  const known = new Map<string, Map<string, T>>();
  let size = 0;
  return (collectionId, path) => {
    // Two lookups instead of one joined key, because each new string must be hashed. Most paths have one name.
    const field = path.length === 1 ? (path[0] as string) : path.join('\0');
    const remembered = known.get(collectionId)?.get(field);
    if (remembered !== undefined) return remembered;
    if (size >= REMEMBERED_FIELDS) {
      known.clear();
      size = 0;
    }
    const found = find(collectionId, path);
    const fields = known.get(collectionId) ?? new Map<string, T>();
    known.set(collectionId, fields.set(field, found));
    size += 1;
    return found;
  };
}

/** A field without an override inherits that of its map, then that of `*`, then the automatic indexes. */
function lookUp(
  overrides: ReadonlyMap<string, FieldIndexes>,
  collectionId: string,
  path: FieldPath,
): FieldIndexes {
  if (overrides.size === 0) return AUTOMATIC;
  for (let length = path.length; length > 0; length--) {
    const found = overrides.get(`${collectionId}/${formatFieldPath(path.slice(0, length))}`);
    if (found) return found;
  }
  return overrides.get(`${collectionId}/*`) ?? AUTOMATIC;
}

/** Considers the members of a map too, because each may have its own override. */
function isExemptBy(
  overrides: ReadonlyMap<string, FieldIndexes>,
  collectionId: string,
  field: FieldPath,
): boolean {
  const { collection, group } = lookUp(overrides, collectionId, field);
  const within = `${collectionId}/${formatFieldPath(field)}.`;
  return collection.size + group.size === 0 && ![...overrides.keys()].some((key) => key.startsWith(within));
}

function overrideKey({ collectionGroup, fieldPath }: DeclaredOverride): string {
  return `${collectionGroup}/${fieldPath === '*' ? '*' : formatFieldPath(parseFieldPath(fieldPath))}`;
}

function readOverride(override: DeclaredOverride): FieldIndexes {
  const collection = new Set<IndexKind>();
  const group = new Set<IndexKind>();
  for (const index of override.indexes ?? []) {
    const kind = readKind(index, `${override.collectionGroup}.${override.fieldPath}`);
    (isGroup(index.queryScope) ? group : collection).add(kind);
  }
  return { collection, group };
}

function readComposite(declared: DeclaredIndex, id: number): IndexDefinition {
  const what = `index ${id} on ${declared.collectionGroup}`;
  const all = declared.fields.map((f) => ({ path: parseFieldPath(f.fieldPath), kind: readKind(f, what) }));
  const fields = all.filter((f) => f.path[0] !== NAME_FIELD);
  const name = all.find((f) => f.path[0] === NAME_FIELD);
  if (fields.length === 0) throw new Error(`${what} has no field besides __name__.`);
  if (fields.filter((f) => f.kind === 'contains').length > 1)
    throw new Error(`${what} has two array fields.`);
  return {
    id,
    collectionId: declared.collectionGroup,
    group: isGroup(declared.queryScope),
    fields,
    nameDescending: (name ?? fields.at(-1))?.kind === 'descending',
  };
}

function readVector(declared: DeclaredIndex, id: number): Omit<VectorIndex, 'vector' | 'dimension'> {
  const what = `vector index ${id} on ${declared.collectionGroup}`;
  const plain = declared.fields.filter((f) => f.vectorConfig === undefined && f.fieldPath !== NAME_FIELD);
  return {
    collectionId: declared.collectionGroup,
    group: isGroup(declared.queryScope),
    fields: plain.map((f) => ({ path: parseFieldPath(f.fieldPath), kind: readKind(f, what) })),
  };
}

function readKind(field: { order?: string; arrayConfig?: string }, what: string): IndexKind {
  if (field.order === 'ASCENDING') return 'ascending';
  if (field.order === 'DESCENDING') return 'descending';
  if (field.arrayConfig === 'CONTAINS') return 'contains';
  throw new Error(`${what}: a field needs "order": ASCENDING | DESCENDING or "arrayConfig": CONTAINS.`);
}

function isGroup(scope: string | undefined): boolean {
  if (scope === undefined || scope === 'COLLECTION') return false;
  if (scope === 'COLLECTION_GROUP') return true;
  throw new Error(`Unknown queryScope "${scope}".`);
}
