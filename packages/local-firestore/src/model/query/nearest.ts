/** Finds the candidates of a query that are nearest to a vector. Pure. */
import type { FieldPath } from '../field-path.ts';
import { vectorOf } from '../value.ts';
import { type Candidate, fieldValue } from './match.ts';

export type DistanceMeasure = 'euclidean' | 'cosine' | 'dotProduct';

export interface Nearest {
  readonly field: FieldPath;
  readonly vector: readonly number[];
  readonly measure: DistanceMeasure;
  /** Most neighbours to return. */
  readonly limit: number;
  /** Less similar documents are omitted. Undefined: no threshold. */
  readonly threshold: number | undefined;
  /** Name, not path, of the field of returned documents that receives the distance. Undefined: none. */
  readonly resultField: string | undefined;
}

interface Neighbour<T> {
  readonly found: T;
  readonly distance: number;
}

interface Neighbourhood<T> {
  /** The most similar first. */
  readonly neighbours: readonly Neighbour<T>[];
  /** Number of candidates with a vector of the right dimension, all of which a flat index reads. */
  readonly compared: number;
}

/** The nearest candidates; equally distant ones keep their order. Candidates without a vector of the right dimension are skipped. */
export function neighbourhood<T extends Candidate>(
  nearest: Nearest,
  candidates: readonly T[],
): Neighbourhood<T> {
  const { vector, measure, threshold, limit } = nearest;
  const sign = measure === 'dotProduct' ? -1 : 1;
  const isNear = (d: number) => threshold === undefined || sign * compareDistances(d, threshold) <= 0;
  const compared = candidates.flatMap((found) => {
    const other = numbersAt(found, nearest.field);
    return other?.length === vector.length ? [{ found, distance: distance(measure, vector, other) }] : [];
  });
  const near = compared.filter((one) => isNear(one.distance));
  near.sort((a, b) => sign * compareDistances(a.distance, b.distance));
  return { neighbours: near.slice(0, limit), compared: compared.length };
}

/** NaN (no distance) is greater than any number, so it comes last, but first for dot products, as in Google's emulator. */
function compareDistances(a: number, b: number): number {
  if (Number.isNaN(a) || Number.isNaN(b)) return Number(Number.isNaN(a)) - Number(Number.isNaN(b));
  // Infinite distances differ by NaN, so they are compared, not subtracted.
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

function numbersAt(candidate: Candidate, field: FieldPath): readonly number[] | undefined {
  const value = fieldValue(candidate, field);
  const elements = value?.kind === 'map' ? vectorOf(value.fields) : undefined;
  return elements?.map((e) => (e.kind === 'double' || e.kind === 'integer' ? Number(e.value) : Number.NaN));
}

/** NaN if there is no distance: for elements that are not numbers, and for the cosine of a vector of length zero. */
function distance(measure: DistanceMeasure, a: readonly number[], b: readonly number[]): number {
  switch (measure) {
    case 'euclidean':
      return lengthOf(a.map((x, i) => x - (b[i] as number)));
    case 'cosine':
      return 1 - dot(a, b) / productOfLengths(a, b);
    case 'dotProduct':
      return dot(a, b);
  }
}

/** The root of the sum of squares, or `Math.hypot` if the squares exceed the range of doubles. */
function lengthOf(a: readonly number[]): number {
  const squared = dot(a, a);
  return Number.isFinite(squared) && squared > 0 ? Math.sqrt(squared) : Math.hypot(...a);
}

/** The root of the product of both squares, like production, so that vectors of the same direction have a distance of exactly 0. */
function productOfLengths(a: readonly number[], b: readonly number[]): number {
  const squared = dot(a, a) * dot(b, b);
  // Squares of very large or small numbers exceed the range of doubles, while lengths do not.
  return Number.isFinite(squared) && squared > 0 ? Math.sqrt(squared) : Math.hypot(...a) * Math.hypot(...b);
}

function dot(a: readonly number[], b: readonly number[]): number {
  return a.reduce((sum, x, i) => sum + x * (b[i] as number), 0);
}
