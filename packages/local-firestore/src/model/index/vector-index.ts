/** Vector indexes, which `firestore.indexes.json` declares among the composite ones. They have no entries here. Pure. */
import { type FieldPath, parseFieldPath } from '../field-path.ts';
import { MAX_VECTOR_DIMENSIONS } from '../limits.ts';
import type { IndexField } from './index-config.ts';

export interface VectorIndex {
  readonly collectionId: string;
  /** True for all collections of this id; false for each collection alone. */
  readonly group: boolean;
  /** Fields that filter and order before the vectors are compared; often none. Without `__name__`. */
  readonly fields: readonly IndexField[];
  readonly vector: FieldPath;
  readonly dimension: number;
}

export interface DeclaredVector {
  readonly fieldPath: string;
  readonly vectorConfig?: { readonly dimension?: number; readonly flat?: object };
}

/** The field of a declaration that holds vectors, or undefined. @throws Error when there are several or it is malformed. */
export function readVectorField(
  fields: readonly DeclaredVector[],
  what: string,
): Pick<VectorIndex, 'vector' | 'dimension'> | undefined {
  const [declared, second] = fields.filter((f) => f.vectorConfig !== undefined);
  if (!declared) return undefined;
  if (second) throw new Error(`${what} has two vector fields.`);
  const { dimension, flat } = declared.vectorConfig ?? {};
  if (!Number.isInteger(dimension) || Number(dimension) < 1 || Number(dimension) > MAX_VECTOR_DIMENSIONS) {
    throw new Error(`${what}: "vectorConfig" needs a "dimension" of 1 to ${MAX_VECTOR_DIMENSIONS}.`);
  }
  if (typeof flat !== 'object' || flat === null) throw new Error(`${what}: "vectorConfig" needs "flat": {}.`);
  return { vector: parseFieldPath(declared.fieldPath), dimension: Number(dimension) };
}
