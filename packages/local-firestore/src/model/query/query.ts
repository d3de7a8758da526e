/** Model of a query. Data only; planning and evaluation are elsewhere. */
import type { FieldPath } from '../field-path.ts';
import type { Value } from '../value.ts';
import type { Nearest } from './nearest.ts';

export type CompareOp =
  | '<'
  | '<='
  | '>'
  | '>='
  | '=='
  | '!='
  | 'in'
  | 'not-in'
  | 'array-contains'
  | 'array-contains-any';

export interface Comparison {
  readonly kind: 'compare';
  readonly field: FieldPath;
  readonly op: CompareOp;
  /** An array for `in`, `not-in` and `array-contains-any`; a reference when the field is `__name__`. */
  readonly value: Value;
}

export type Filter =
  | Comparison
  | { readonly kind: 'and'; readonly filters: readonly Filter[] }
  | { readonly kind: 'or'; readonly filters: readonly Filter[] };

export interface FieldOrder {
  readonly field: FieldPath;
  readonly descending: boolean;
}

export interface Cursor {
  /** One value for each of the first orders. */
  readonly values: readonly Value[];
  /** True: the position is before equal documents; false: after them. */
  readonly before: boolean;
}

export interface QueryScope {
  /** `projects/{p}/databases/{d}` */
  readonly database: string;
  /** Segments of the parent document; empty for the root. */
  readonly parent: readonly string[];
  /** Undefined: documents of every collection below the parent. */
  readonly collectionId: string | undefined;
  /** True: at any depth below the parent (collection group). */
  readonly allDescendants: boolean;
}

export interface Query {
  readonly scope: QueryScope;
  readonly filter: Filter | undefined;
  /** Normalised: ends with `__name__`. */
  readonly orders: readonly FieldOrder[];
  /** Number of `orders` written by the caller; the others are implied. */
  readonly explicitOrders: number;
  readonly startAt: Cursor | undefined;
  readonly endAt: Cursor | undefined;
  readonly offset: number;
  /** Undefined: no limit. */
  readonly limit: number | undefined;
  /** Fields of an aggregation, which a document must have although nothing filters or orders by them. */
  readonly required: readonly FieldPath[];
  /** Undefined: whole documents. */
  readonly select: readonly FieldPath[] | undefined;
  /** Present: only the nearest results to a vector, in that order. */
  readonly nearest?: Nearest;
}
