/** Reads query parameters strictly: a misspelled filter must not silently list everything. */
import { CairnError } from '../core/errors.ts';
import { cut } from '../core/run/records.ts';
import { VOCABULARIES, type Vocabulary } from '../core/run/vocabulary.ts';
import { MAX_TIME, MIN_TIME } from '../core/time.ts';
import type { PageRequest } from '../ports/run-store.ts';

/** Default page size. */
export const DEFAULT_LIMIT = 20;
/** Default number of runs in a stream. */
export const DEFAULT_STREAMED = 50;
/** Largest page size: a hundred checkpoints of 256 KiB fit in a response. */
export const MAX_LIMIT = 100;
const MAX_VALUE_CHARS = 2_000;
/** Longest parameter name shown in a response. */
const NAME_CHARS = 100;

export type QueryParameters<Name extends string> = { readonly [K in Name]?: string | undefined };

/**
 * The parameters of a request.
 *
 * @throws CairnError INVALID_INPUT for an unknown, repeated, empty or overlong one
 */
export function readQuery<Name extends string>(url: string, known: readonly Name[]): QueryParameters<Name> {
  const query: { [K in Name]?: string } = {};
  for (const [name, value] of new URL(url).searchParams) {
    if (!isOneOf(name, known)) refuse(name, `is unknown; use ${known.join(', ') || 'none'}`);
    if (query[name] !== undefined) refuse(name, 'is given twice');
    if (value === '') refuse(name, 'is empty');
    if (value.length > MAX_VALUE_CHARS) refuse(name, `is longer than ${MAX_VALUE_CHARS} characters`);
    query[name] = value;
  }
  return query;
}

/** @throws CairnError INVALID_INPUT unless `limit` is a number from 1 to {@link MAX_LIMIT} */
export function pageRequest({ limit, cursor }: QueryParameters<'limit' | 'cursor'>): PageRequest {
  return { limit: limitOf(limit, DEFAULT_LIMIT), cursor };
}

/**
 * @param absent default
 * @throws CairnError INVALID_INPUT unless `limit` is a number from 1 to {@link MAX_LIMIT}
 */
export function limitOf(limit: string | undefined, absent: number): number {
  const size = limit === undefined ? absent : /^\d{1,3}$/.test(limit) ? Number(limit) : 0;
  if (size < 1 || size > MAX_LIMIT) refuse('limit', `must be a number from 1 to ${MAX_LIMIT}`);
  return size;
}

/** Longest wait of a read, s: below the 60 that a request of the deployed function, and one through Hosting, may take. */
export const MAX_WAIT_S = 50;

/** Time a read waits for the end of its run, ms; 0 by default. @throws CairnError INVALID_INPUT unless it is 1s to 50s */
export function waitMsOf({ wait }: QueryParameters<'wait'>): number {
  if (wait === undefined) return 0;
  const seconds = /^\d{1,2}s$/.test(wait) ? Number.parseInt(wait, 10) : 0;
  if (seconds < 1 || seconds > MAX_WAIT_S) refuse('wait', `must be a time from 1s to ${MAX_WAIT_S}s`);
  return seconds * 1_000;
}

/** Vocabulary for the status of runs. @throws CairnError INVALID_INPUT for an unknown one */
export function vocabularyOf({ vocabulary = 'cairn' }: QueryParameters<'vocabulary'>): Vocabulary {
  if (isOneOf(vocabulary, VOCABULARIES)) return vocabulary;
  return refuse('vocabulary', `must be one of ${VOCABULARIES.join(', ')}`);
}

/**
 * Returns true if a stream continues after the current state: unless the caller sends `follow=false`, for clients
 * behind a proxy that buffers whole responses. @throws CairnError INVALID_INPUT for other values
 */
export function isFollowing({ follow = 'true' }: QueryParameters<'follow'>): boolean {
  return booleanOf('follow', follow);
}

/** @throws CairnError INVALID_INPUT unless it is `true` or `false` */
export function booleanOf(name: string, value: string): boolean {
  if (value !== 'true' && value !== 'false') refuse(name, 'must be true or false');
  return value === 'true';
}

/** Epoch ms. @throws CairnError INVALID_INPUT unless it is an RFC 3339 time on a day of the calendar */
export function timeOf(name: string, value: string): number {
  const [, day] = /^(\d{4}-\d{2}-\d{2})T/.exec(value) ?? [];
  const time = day !== undefined && isDay(day) ? Date.parse(value) : Number.NaN;
  if (!Number.isFinite(time)) refuse(name, 'must be a time such as 2026-01-31T08:00:00Z');
  // With an offset, the last day of 9999 can be in year 10000, which is refused.
  if (time < MIN_TIME || time > MAX_TIME) refuse(name, 'must be a time of the years 1 to 9999');
  return time;
}

/** `Date.parse` takes February 30 for March 2. */
function isDay(day: string): boolean {
  const midnight = new Date(`${day}T00:00:00Z`);
  return Number.isFinite(midnight.getTime()) && midnight.toISOString().startsWith(day);
}

function isOneOf<Name extends string>(name: string, known: readonly Name[]): name is Name {
  return (known as readonly string[]).includes(name);
}

function refuse(name: string, why: string): never {
  const named = cut(name, NAME_CHARS);
  throw new CairnError(
    'INVALID_INPUT',
    `the query parameter ${named === '' ? 'without a name' : named} ${why}`,
    { field: named === '' ? 'query' : named },
  );
}
