/** Names indexes for query explain. Pure. */
import { type FieldPath, formatFieldPath } from '../field-path.ts';
import type { IndexField } from '../index/index-config.ts';
import type { VectorIndex } from '../index/vector-index.ts';

/** An index that a query reads, in the form of production. */
export interface UsedIndex {
  /** Without `__name__`, which every index ends with. */
  readonly fields: readonly IndexField[];
  readonly nameDescending: boolean;
}

export function nameIndex(descending: boolean): UsedIndex {
  return { fields: [], nameDescending: descending };
}

/** Production has one index for each direction; here one is read both ways. */
export function singleIndex(path: FieldPath, descending: boolean, contains = false): UsedIndex {
  const kind = contains ? 'contains' : descending ? 'descending' : 'ascending';
  return { fields: [{ path, kind }], nameDescending: descending };
}

/** For example `(shard ASC, wakeAt DESC, __name__ DESC)`. */
export function indexText({ fields, nameDescending }: UsedIndex): string {
  return `(${[...fields.map(fieldText), `__name__ ${nameDescending ? 'DESC' : 'ASC'}`].join(', ')})`;
}

export function vectorIndexText({ fields, vector, dimension }: VectorIndex): string {
  const last = `${formatFieldPath(vector)} VECTOR<${dimension}>`;
  return `(${[...fields.map(fieldText), '__name__ ASC', last].join(', ')})`;
}

function fieldText({ path, kind }: IndexField): string {
  const order = { ascending: 'ASC', descending: 'DESC', contains: 'CONTAINS' }[kind];
  return `${formatFieldPath(path)} ${order}`;
}
