/** Vector search, supported only by RunQuery. */
import { parseFieldPath } from '../model/field-path.ts';
import type { DistanceMeasure, Nearest } from '../model/query/nearest.ts';
import type { Query } from '../model/query/query.ts';
import { invalid, unimplemented } from '../model/status.ts';
import { vectorOf } from '../model/value.ts';
import { decodeQuery, type WireQuery } from './query-codec.ts';
import { checkFieldName, decodeOperand } from './value-decoder.ts';

/** `google.firestore.v1.StructuredQuery.FindNearest` */
export interface WireNearest {
  readonly vectorField?: { readonly fieldPath?: string | null } | null;
  readonly queryVector?: Uint8Array | null;
  readonly distanceMeasure?: number;
  readonly limit?: { readonly value?: number | null } | null;
  readonly distanceResultField?: string | null;
  readonly distanceThreshold?: { readonly value?: number | null } | null;
}

const MEASURES: Record<number, DistanceMeasure> = { 1: 'euclidean', 2: 'cosine', 3: 'dotProduct' };
const MAX_NEIGHBOURS = 1_000;

/** @throws INVALID_ARGUMENT with the violated rule, UNIMPLEMENTED for undocumented options */
export function decodeSearch(parent: string, wire: WireQuery): Query {
  const { findNearest, ...plain } = wire;
  const query = decodeQuery(parent, plain);
  if (!findNearest) return query;
  const { offset, limit, startAt, endAt } = query;
  if (limit !== undefined) throw invalid('A query limit cannot be used with FindNearest');
  if (offset > 0) throw invalid('A query offset cannot be used with FindNearest');
  if (startAt || endAt) throw invalid('A cursor cannot be used with FindNearest');
  if (query.scope.collectionId === undefined) {
    throw unimplemented('Vector search (findNearest) needs a collection id.');
  }
  const nearest = decodeNearest(findNearest);
  return { ...query, nearest, required: [nearest.field] };
}

function decodeNearest(wire: WireNearest): Nearest {
  const limit = wire.limit?.value ?? 0;
  if (limit < 1 || limit > MAX_NEIGHBOURS) {
    throw invalid(`FindNearest.limit must be a positive integer of no more than ${MAX_NEIGHBOURS}`);
  }
  const measure = MEASURES[wire.distanceMeasure ?? 0];
  if (!measure) throw invalid(`Unknown distance measure ${wire.distanceMeasure} of findNearest.`);
  const threshold = wire.distanceThreshold ? (wire.distanceThreshold.value ?? 0) : undefined;
  if (threshold !== undefined && !Number.isFinite(threshold)) {
    throw invalid('distanceThreshold must be a finite number.');
  }
  const resultField = wire.distanceResultField || undefined;
  if (resultField !== undefined) checkFieldName(resultField);
  return {
    field: parseFieldPath(wire.vectorField?.fieldPath ?? ''),
    vector: decodeVector(wire.queryVector),
    measure,
    limit,
    threshold,
    resultField,
  };
}

function decodeVector(bytes: Uint8Array | null | undefined): number[] {
  const value = bytes?.length ? decodeOperand(bytes) : undefined;
  const elements = value?.kind === 'map' ? vectorOf(value.fields) : undefined;
  if (!elements?.length)
    throw invalid('The query vector of findNearest must be a vector of at least one number.');
  return elements.map((e) => (e.kind === 'double' || e.kind === 'integer' ? Number(e.value) : Number.NaN));
}
