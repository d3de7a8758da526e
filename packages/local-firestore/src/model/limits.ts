/** Limits of production, Standard edition (firebase.google.com/docs/firestore/quotas), and the pattern of reserved names. */

export const MAX_DOCUMENT_BYTES = 1_048_576;
/** Bytes of one text or bytes value. */
export const MAX_VALUE_BYTES = 1_048_487;
export const MAX_NAME_BYTES = 6_144;
export const MAX_ID_BYTES = 1_500;
/**
 * Reserved names of fields, collections and documents. `____` is allowed, because Google's emulator and production's clients accept it,
 * although the documented expression `__.*__` includes it.
 */
export const RESERVED_NAME = /^__.+__$/s;
export const MAX_FIELD_NAME_BYTES = 1_500;
/** Size of a full field path, including dots. */
export const MAX_FIELD_PATH_BYTES = 1_500;
/** Size of a value in an index, and therefore of a comparison value. */
export const MAX_INDEXED_VALUE_BYTES = 1_500;
export const MAX_COLLECTION_DEPTH = 100;
export const MAX_VALUE_DEPTH = 20;
export const MAX_VECTOR_DIMENSIONS = 2_048;
export const MAX_REQUEST_BYTES = 10 * 1024 * 1024;
/** The limit applies to each document in a commit. */
export const MAX_TRANSFORMS_PER_DOCUMENT = 500;
/** Comparison values of one query in disjunctive normal form. */
export const MAX_DISJUNCTIONS = 30;
export const MAX_NOT_IN_VALUES = 10;
/** Filters, orders and the parent document of a query together. */
export const MAX_QUERY_PARTS = 100;
export const MAX_INEQUALITY_FIELDS = 10;
export const MAX_INDEX_ENTRIES_PER_DOCUMENT = 40_000;
export const MAX_AGGREGATIONS = 5;
/** Maximum age of a read, without point-in-time recovery. */
export const MAX_READ_AGE_MS = 60 * 60_000;
