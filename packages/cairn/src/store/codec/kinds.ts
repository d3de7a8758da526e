/**
 * The kinds of values of a document member, each with its form in Firestore, and the encoding of a record of them as a
 * document. A codec is a table of members, so that their names are known (masks, index exemptions) and decoding returns exactly
 * what was encoded.
 *
 * Must not: know the meaning of a member.
 */

import { Timestamp } from '@google-cloud/firestore';
import { canonicalJson, canonicalTextOf, type Json } from '../../core/encoding/json.ts';
import { isRecord } from '../../core/is-record.ts';
import { NewerSchemaError, SCHEMA_VERSION, type StoredValue } from '../../core/run/events.ts';
import { messageOf } from '../../core/thrown.ts';
import { UndecodableDocument } from '../../ports/store-errors.ts';

/** The members of a document, by name. */
export type Members = Record<string, unknown>;

/** The form in Firestore of values of one type. `decode` throws for anything that `encode` cannot have written. */
export interface Kind<V> {
  readonly optional: boolean;
  /** Name in the document, if it differs from that of the property. */
  readonly name?: string;
  encode(value: V): unknown;
  decode(raw: unknown): V;
}

export interface OptionalKind<V> extends Kind<V> {
  readonly optional: true;
}

/** A kind for every property of `T`; optional properties need an optional kind. */
export type Table<T> = {
  readonly [K in keyof T]-?: Record<never, never> extends Pick<T, K>
    ? OptionalKind<Exclude<T[K], undefined>>
    : Kind<T[K]>;
};

export const text: Kind<string> = kind((value) => value, isText);

/** Text of a set that only the type knows: any text is decoded. */
export function word<T extends string>(): Kind<T> {
  return text as unknown as Kind<T>;
}

/** Text of a fixed set; decoding refuses any other text. */
export function oneOf<T extends string>(members: readonly T[]): Kind<T> {
  const known: ReadonlySet<string> = new Set(members);
  const check = (raw: unknown) => (known.has(isText(raw)) ? (raw as T) : mismatch('a known word', raw));
  return kind(check, check);
}

export const integer: Kind<number> = kind(wholeNumber, (raw) =>
  Number.isSafeInteger(raw) ? (raw as number) : mismatch('a whole number', raw),
);

export const flag: Kind<boolean> = kind(
  (value) => value,
  (raw) => (typeof raw === 'boolean' ? raw : mismatch('true or false', raw)),
);

/** Epoch milliseconds as a Timestamp. Server timestamps have microseconds, which are truncated on reading. */
export const time: Kind<number> = kind(
  (value) => Timestamp.fromMillis(wholeNumber(value)),
  (raw) => (raw instanceof Timestamp ? raw.toMillis() : mismatch('a time', raw)),
);

/** A compound value as canonical JSON text: Firestore's own maps refuse nested arrays, depth over 20 and reserved names. */
export function json<T>(): Kind<T> {
  return kind(
    (value) =>
      typeof value === 'object' && value !== null ? canonicalTextOf(value) : canonicalJson(value as Json),
    (raw) => parsed(isText(raw)) as T,
  );
}

/** {@link json} of a list; decoding refuses the text of any other value. */
export function jsonList<T extends readonly unknown[]>(): Kind<T> {
  return shaped<T>('a list', Array.isArray);
}

/** {@link json} of an object. */
export function jsonObject<T extends object>(): Kind<T> {
  return shaped<T>('an object', isRecord);
}

function shaped<T>(shape: string, isShaped: (value: unknown) => boolean): Kind<T> {
  const { encode, decode } = json<T>();
  return kind(encode, (raw) => {
    const value = decode(raw);
    return isShaped(value) ? value : mismatch(`JSON of ${shape}`, value);
  });
}

/** A list of words of a fixed set, stored natively so that the Firebase console shows it. */
export function words<T extends string>(): Kind<readonly T[]> {
  return kind(
    (value) => [...value],
    (raw) => (Array.isArray(raw) ? raw.map((member) => isText(member) as T) : mismatch('a list', raw)),
  );
}

/** A small record of fixed shape as a native map. */
export function map<T extends object>(table: Table<T>): Kind<T> {
  const kinds = kindsOf(table);
  return kind(
    (value) => encodeMembers(kinds, value),
    (raw) => (isMembers(raw) ? decodeMembers<T>(kinds, raw) : mismatch('a map', raw)),
  );
}

/** Inline text as it is, and a reference as the map `{checkpoint}`, so that no text can be mistaken for a reference. */
export const storedValue: Kind<StoredValue> = kind<StoredValue>(
  (value) => ('text' in value ? value.text : { checkpoint: value.checkpoint }),
  (raw) => {
    if (!isMembers(raw)) return { text: isText(raw) };
    return { checkpoint: integer.decode(raw.checkpoint) };
  },
);

/** A native map from any names to values of one kind. */
export function byName<V>(of: Kind<V>): Kind<Readonly<Record<string, V>>> {
  const each = <A, B>(values: Readonly<Record<string, A>>, turn: (value: A) => B) =>
    Object.fromEntries(Object.entries(values).map(([name, value]) => [name, turn(value)]));
  return kind(
    (values) => each(values, of.encode),
    (raw) => (isMembers(raw) ? each(raw, of.decode) : mismatch('a map', raw)),
  );
}

/** A custom kind. */
export function kind<V>(encode: (value: V) => unknown, decode: (raw: unknown) => V): Kind<V> {
  return { optional: false, encode, decode };
}

export function optional<V>(of: Kind<V>): OptionalKind<V> {
  return { ...of, optional: true };
}

/** The same kind under another name than the property's. */
export function renamed<K extends { readonly name?: string }>(name: string, of: K): K {
  return { ...of, name };
}

export interface DocumentCodec<T> {
  readonly names: readonly string[];
  encode(value: T): Members;
  /** @throws NewerSchemaError, before anything else of the document is checked; UndecodableDocument */
  decode(document: Members, what: string): T;
}

export function documentCodec<T extends object>(table: Table<T>): DocumentCodec<T> {
  const kinds = kindsOf(table);
  return {
    names: kinds.map(([property, of]) => of.name ?? property),
    encode: (value) => encodeMembers(kinds, value),
    decode(document, what) {
      refuseNewer(document, what);
      try {
        return decodeMembers<T>(kinds, document);
      } catch (cause) {
        throw new UndecodableDocument(`${what}: ${messageOf(cause)}`, { cause });
      }
    },
  };
}

/** @throws NewerSchemaError if a newer version of this software wrote the document */
export function refuseNewer(document: Members, what: string): void {
  const found = document.schemaVersion;
  if (typeof found === 'number' && found > SCHEMA_VERSION) throw new NewerSchemaError(what, found);
}

/** A table as a list, computed once because encoding runs for every event of every step. */
type Kinds = readonly (readonly [property: string, kind: Kind<unknown>])[];

function kindsOf<T>(table: Table<T>): Kinds {
  return Object.entries(table) as [string, Kind<unknown>][];
}

function encodeMembers(kinds: Kinds, value: object): Members {
  const members: Members = {};
  for (const [property, of] of kinds) {
    const member = (value as Members)[property];
    if (member === undefined) {
      if (!of.optional) throw new Error(`'${property}' is missing`);
      continue;
    }
    try {
      members[of.name ?? property] = of.encode(member);
    } catch (cause) {
      throw new Error(`'${property}' cannot be stored: ${messageOf(cause)}`, { cause });
    }
  }
  return members;
}

function decodeMembers<T>(kinds: Kinds, members: Members): T {
  const value: Members = {};
  for (const [property, of] of kinds) {
    const name = of.name ?? property;
    const member = members[name];
    if (member === undefined) {
      if (!of.optional) throw new Error(`member '${name}' is missing`);
      continue;
    }
    try {
      value[property] = of.decode(member);
    } catch (cause) {
      throw new Error(`member '${name}': ${messageOf(cause)}`, { cause });
    }
  }
  return value as T;
}

function wholeNumber(value: number): number {
  if (!Number.isSafeInteger(value)) throw new Error(`${value} is not a whole number`);
  return value;
}

function isMembers(raw: unknown): raw is Members {
  return isRecord(raw) && !(raw instanceof Timestamp);
}

/** The message of the parser is dropped, because it would quote the stored text. */
function parsed(value: string): unknown {
  try {
    return JSON.parse(value);
  } catch {
    throw new Error('expected JSON');
  }
}

function isText(raw: unknown): string {
  return typeof raw === 'string' ? raw : mismatch('text', raw);
}

function mismatch(expected: string, raw: unknown): never {
  throw new Error(`expected ${expected}, found ${raw === null ? 'null' : typeof raw}`);
}
