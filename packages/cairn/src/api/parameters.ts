/**
 * The kinds of query parameters: their descriptions in the OpenAPI document, and how their text is read. The table of operations
 * (`openapi/paths/`) names the parameters of a route; handlers get their values.
 */
import type { Json } from '../core/encoding/json.ts';
import { invalidInput } from '../core/errors.ts';
import { VOCABULARIES, type Vocabulary } from '../core/run/vocabulary.ts';
import { MAX_TIME, MIN_TIME } from '../core/time.ts';

/** Default page size. */
export const DEFAULT_LIMIT = 20;
/** Default number of runs in a stream. */
export const DEFAULT_STREAMED = 50;
/** Largest page size: a response has room for a hundred checkpoints of 256 KiB. */
export const MAX_LIMIT = 100;
/** Longest wait of a read, s. The deployed function and Hosting end requests after 60 s. */
export const MAX_WAIT_S = 50;

/**
 * `Value` is the type that handlers get. `Sent` is the type that the typed client accepts besides strings; `String` converts it.
 */
export interface QueryParameter<Value, Sent = never> {
  readonly description: string;
  readonly schema: Readonly<Record<string, Json>>;
  readonly required?: true;
  /** @param text undefined if the request has no such parameter. @throws CairnError INVALID_INPUT */
  readonly read: (text: string | undefined, name: string) => Value;
  /** Never set. It only carries the type. */
  readonly sent?: Sent;
}

export type QueryTable = Readonly<Record<string, QueryParameter<unknown, unknown>>>;

export type QueryValues<Table> = {
  readonly [Name in keyof Table]: Table[Name] extends QueryParameter<infer Value, infer _> ? Value : never;
};

/** @param schema for text with a more specific form */
export function text(
  description: string,
  schema: Readonly<Record<string, Json>> = { type: 'string' },
): QueryParameter<string | undefined> {
  return { description, schema, read: (sent) => sent };
}

/** Longest text that Firestore compares with an indexed one. No stored text is as long. */
const MAX_COMPARED_BYTES = 1_500;

/** A text that the store compares with a stored one. */
export function comparedText(description: string): QueryParameter<string | undefined> {
  return {
    ...text(description),
    read(sent, name) {
      if (sent !== undefined && Buffer.byteLength(sent) > MAX_COMPARED_BYTES)
        refuse(name, `is longer than ${MAX_COMPARED_BYTES} bytes`);
      return sent;
    },
  };
}

/** @param help for a request without the parameter */
export function requiredText(description: string, help: string): QueryParameter<string> {
  return {
    description,
    schema: { type: 'string' },
    required: true,
    read: (sent, name) => sent ?? refuse(name, 'is missing', help),
  };
}

/** `true` or `false`. */
export function flag(description: string, absent = false): QueryParameter<boolean, boolean> {
  return {
    description,
    schema: { type: 'boolean', default: absent },
    read(sent = String(absent), name) {
      if (sent !== 'true' && sent !== 'false') refuse(name, 'must be true or false');
      return sent === 'true';
    },
  };
}

/** Sequence number of an event; 0: before the first. */
export function seq(description: string): QueryParameter<number | undefined, number> {
  return {
    description,
    schema: { type: 'integer', minimum: 0 },
    read(sent, name) {
      if (sent !== undefined && !/^\d{1,9}$/.test(sent))
        refuse(name, 'must be the sequence number of an event, or 0');
      return sent === undefined ? undefined : Number(sent);
    },
  };
}

/** Size of a page, 1 to {@link MAX_LIMIT}. */
export function limit(description: string, absent = DEFAULT_LIMIT): QueryParameter<number, number> {
  return {
    description,
    schema: { type: 'integer', minimum: 1, maximum: MAX_LIMIT, default: absent },
    read(sent, name) {
      const size = sent === undefined ? absent : /^\d{1,3}$/.test(sent) ? Number(sent) : 0;
      if (size < 1 || size > MAX_LIMIT) refuse(name, `must be a number from 1 to ${MAX_LIMIT}`);
      return size;
    },
  };
}

/** An integer of 1 or more. */
export function positive(description: string): QueryParameter<number | undefined, number> {
  return {
    description,
    schema: { type: 'integer', minimum: 1 },
    read(sent, name) {
      if (sent === undefined) return undefined;
      if (!/^[1-9]\d{0,8}$/.test(sent)) refuse(name, 'must be a whole number from 1');
      return Number(sent);
    },
  };
}

/** An RFC 3339 time on a day of the calendar; its value is in epoch ms. */
export function time(description: string): QueryParameter<number | undefined> {
  return { description, schema: { type: 'string', format: 'date-time' }, read: readTime };
}

const SECONDS = /^\d{1,2}s$/;

/** A wait such as `30s`, 1 to {@link MAX_WAIT_S} s; its value is in ms, and 0 by default. */
export function wait(description: string): QueryParameter<number> {
  return {
    description,
    schema: { type: 'string', pattern: SECONDS.source },
    read(sent, name) {
      if (sent === undefined) return 0;
      const seconds = SECONDS.test(sent) ? Number.parseInt(sent, 10) : 0;
      if (seconds < 1 || seconds > MAX_WAIT_S) refuse(name, `must be a time from 1s to ${MAX_WAIT_S}s`);
      return seconds * 1_000;
    },
  };
}

/** One of the given words. */
export function oneOf<const Word extends string>(
  description: string,
  words: readonly Word[],
): QueryParameter<Word | undefined> {
  return {
    description,
    schema: { type: 'string', enum: [...words] },
    read: (sent, name) => (sent === undefined ? undefined : wordOf(sent, name, words)),
  };
}

/** Vocabulary for the status of runs. */
export function vocabulary(description: string): QueryParameter<Vocabulary> {
  return {
    description,
    schema: { type: 'string', enum: [...VOCABULARIES], default: VOCABULARIES[0] },
    read: (sent = VOCABULARIES[0], name) => wordOf(sent, name, VOCABULARIES),
  };
}

function wordOf<Word extends string>(sent: string, name: string, words: readonly Word[]): Word {
  return words.find((word) => word === sent) ?? refuse(name, `must be one of ${words.join(', ')}`);
}

function readTime(sent: string | undefined, name: string): number | undefined {
  if (sent === undefined) return undefined;
  const [, day] = /^(\d{4}-\d{2}-\d{2})T/.exec(sent) ?? [];
  const at = day !== undefined && isDay(day) ? Date.parse(sent) : Number.NaN;
  if (!Number.isFinite(at)) refuse(name, 'must be a time such as 2026-01-31T08:00:00Z');
  // With an offset, the last day of 9999 can be in year 10000, which is refused.
  if (at < MIN_TIME || at > MAX_TIME) refuse(name, 'must be a time of the years 1 to 9999');
  return at;
}

/** Rejects February 30, which `Date.parse` reads as March 2. */
function isDay(day: string): boolean {
  const midnight = new Date(`${day}T00:00:00Z`);
  return Number.isFinite(midnight.getTime()) && midnight.toISOString().startsWith(day);
}

/** @throws CairnError INVALID_INPUT */
export function refuse(name: string, why: string, help?: string): never {
  const message = `the query parameter ${name === '' ? 'without a name' : name} ${why}`;
  throw invalidInput(name === '' ? 'query' : name, message, { help });
}
