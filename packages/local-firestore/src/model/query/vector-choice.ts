/** Chooses the declared vector index for a search, or names the one that production would require. Pure; uses definitions only. */
import { formatFieldPath } from '../field-path.ts';
import type { IndexConfig, IndexField } from '../index/index-config.ts';
import type { VectorIndex } from '../index/vector-index.ts';
import { Code, StatusError } from '../status.ts';
import type { Conjunction } from './disjunctions.ts';
import { shapeOf } from './index-choice.ts';
import type { Nearest } from './nearest.ts';
import { sameField } from './normalise.ts';
import type { Query } from './query.ts';

/**
 * The declared index; if indexes are not enforced, the one to declare.
 *
 * @throws FAILED_PRECONDITION if indexes are enforced and none is declared; the message contains the declaration
 */
export function vectorIndexFor(
  config: IndexConfig,
  query: Query & { readonly nearest: Nearest },
  conjunction: Conjunction,
): VectorIndex {
  const { scope, nearest } = query;
  const fields = filteredFields(query, conjunction);
  const index = config
    .vectors(scope.collectionId as string)
    .find(
      (v) =>
        v.group === scope.allDescendants &&
        sameField(v.vector, nearest.field) &&
        v.dimension === nearest.vector.length &&
        serves(v.fields, fields),
    );
  if (index) return index;
  if (!config.enforced) return needed(query, fields);
  throw new StatusError(
    Code.FAILED_PRECONDITION,
    'Missing vector index configuration. Please create the required index with the following gcloud command: ' +
      `${command(query, fields)} or add to firestore.indexes.json under ` +
      `indexes: ${JSON.stringify(declaration(query, fields))}`,
  );
}

function needed({ scope, nearest }: Query & { readonly nearest: Nearest }, fields: Filtered): VectorIndex {
  return {
    collectionId: scope.collectionId as string,
    group: scope.allDescendants,
    fields: [...fields.equal, ...fields.ordered],
    vector: nearest.field,
    dimension: nearest.vector.length,
  };
}

interface Filtered {
  readonly equal: readonly IndexField[];
  readonly ordered: readonly IndexField[];
}

/** Distinct fields that must be in the index, those of equalities and memberships first. */
function filteredFields(query: Query, conjunction: Conjunction): Filtered {
  const { equalities, contains, orders } = shapeOf(query, conjunction);
  const equal: IndexField[] = contains ? [{ path: contains.field, kind: 'contains' }] : [];
  for (const { field } of equalities) {
    if (!equal.some((f) => f.kind !== 'contains' && sameField(f.path, field)))
      equal.push({ path: field, kind: 'ascending' });
  }
  return {
    equal,
    ordered: orders.map((o) => ({ path: o.field, kind: o.descending ? 'descending' : 'ascending' })),
  };
}

/** Equalities may be in any order and direction; ordered and ranged fields come after them. */
function serves(declared: readonly IndexField[], { equal, ordered }: Filtered): boolean {
  if (declared.length !== equal.length + ordered.length) return false;
  const alike = (a: IndexField, b: IndexField) =>
    sameField(a.path, b.path) && (a.kind === 'contains') === (b.kind === 'contains');
  const front = declared.slice(0, equal.length);
  return (
    equal.every((f) => front.some((d) => alike(d, f))) &&
    ordered.every((f, i) => alike(declared[equal.length + i] as IndexField, f))
  );
}

function command({ scope, nearest }: Query & { readonly nearest: Nearest }, fields: Filtered): string {
  const [, project = '', , database = ''] = scope.database.split('/');
  const plain = [...fields.equal, ...fields.ordered].map(({ path, kind }) => {
    const config = kind === 'contains' ? 'array-config=CONTAINS' : `order=${kind.toUpperCase()}`;
    return `--field-config=${config},field-path=${formatFieldPath(path)}`;
  });
  const vector = `vector-config='{"dimension":"${nearest.vector.length}","flat": "{}"}'`;
  return [
    'gcloud firestore indexes composite create',
    `--project=${project}`,
    ...(database === '(default)' ? [] : [`--database=${database}`]),
    `--collection-group=${scope.collectionId}`,
    `--query-scope=${scope.allDescendants ? 'COLLECTION_GROUP' : 'COLLECTION'}`,
    ...plain,
    `--field-config=${vector},field-path=${formatFieldPath(nearest.field)}`,
  ].join(' ');
}

function declaration({ scope, nearest }: Query & { readonly nearest: Nearest }, fields: Filtered): object {
  const plain = [...fields.equal, ...fields.ordered].map(({ path, kind }) => ({
    fieldPath: formatFieldPath(path),
    ...(kind === 'contains' ? { arrayConfig: 'CONTAINS' } : { order: kind.toUpperCase() }),
  }));
  const vectorConfig = { dimension: nearest.vector.length, flat: {} };
  return {
    collectionGroup: scope.collectionId,
    queryScope: scope.allDescendants ? 'COLLECTION_GROUP' : 'COLLECTION',
    fields: [...plain, { fieldPath: formatFieldPath(nearest.field), vectorConfig }],
  };
}
