/** Types of a body's result: a value that JSON keeps as it is, or a degraded one. */
import type { $brand } from 'zod';
import { messageOf } from '../../core/thrown.ts';

declare const degradedValue: unique symbol;

/** A result of lower quality than requested; see `degraded`. */
export interface Degraded<T> {
  readonly [degradedValue]: true;
  readonly value: T;
  readonly reason: string;
}

export type BodyResult<T> = T | Degraded<T> | Promise<T | Degraded<T>>;

/** Includes branded primitives. */
type Primitive = string | number | boolean | null | undefined;
type AnyFunction = ((...args: never) => unknown) | (abstract new (...args: never) => unknown);

/** Reason why JSON changes a value; never if the type itself gives none. */
type LossOf<T> = T extends AnyFunction
  ? 'a function is lost'
  : T extends symbol
    ? 'a symbol is lost'
    : T extends bigint
      ? 'a bigint is not JSON: return its text'
      : T extends Date
        ? 'a Date becomes a text: return date.toISOString()'
        : T extends ReadonlyMap<unknown, unknown> | WeakMap<WeakKey, unknown>
          ? 'a Map becomes {}: return an object or [...map]'
          : T extends ReadonlySet<unknown> | WeakSet<WeakKey>
            ? 'a Set becomes {}: return [...set]'
            : T extends Promise<unknown>
              ? 'a Promise becomes {}: await it'
              : T extends RegExp | ArrayBuffer | ArrayBufferView
                ? 'it becomes another object'
                : ErrorReason<T>;

/** Only an error has a stack; data may also have a name and a message. */
type ErrorReason<T> = T extends Error
  ? 'stack' extends keyof T
    ? 'an Error becomes {}: throw it, or return its message'
    : never
  : never;

/** The compiler's error shows this name. */
interface OutputIsNotJson<Loss> {
  readonly 'return only strings, numbers, booleans, null, arrays and plain objects': Loss;
}

/** Symbols that exist only in types, not in outputs: those of a brand of Zod, and of a degraded result. */
type KeyOfType = keyof $brand | typeof degradedValue;

/** Any JSON, declared as in most libraries, so that it is assignable to their types, `any` and `unknown`. */
type AnyJson = string | number | boolean | null | AnyJson[] | { [key: string]: AnyJson };

/** The same type with an error text in place of each part that JSON would lose; the compiler recurses only as far as it must. */
type KeptByJson<T> = [AnyJson] extends [T] ? T : EachKept<T>;

type EachKept<T> = T extends Primitive
  ? T
  : [LossOf<T>] extends [never]
    ? T extends object
      ? { [K in keyof T]: K extends symbol ? SymbolKey<K, T[K]> : KeptByJson<T[K]> }
      : T
    : OutputIsNotJson<LossOf<T>>;

type SymbolKey<K, V> = K extends KeyOfType
  ? V
  : OutputIsNotJson<'a member with a symbol as its name is lost'>;

/** Depth to which the compiler's error searches for the reason, because a type may contain itself. */
type Below = [never, 0, 1, 2, 3];

/** The reason with the names that lead to it: `at: a Date becomes a text`. */
type LossIn<T, Depth extends number = 4> = [AnyJson] extends [T] ? never : LossOfEach<T, Depth>;

type LossOfEach<T, Depth extends number> = T extends Primitive
  ? never
  : [LossOf<T>] extends [never]
    ? Depth extends 0
      ? never
      : T extends readonly (infer Item)[]
        ? LossIn<Item, Below[Depth]>
        : T extends object
          ? { [K in keyof T]-?: NamedLoss<K, LossIn<T[K], Below[Depth]>> }[keyof T]
          : never
    : LossOf<T>;

type NamedLoss<K, Said> = K extends symbol
  ? K extends KeyOfType
    ? never
    : 'a member with a symbol as its name is lost'
  : Said extends string
    ? `${K & (string | number)}: ${Said}`
    : never;

/**
 * Type check of a body's result, so that an error appears at the body. Values of the types `any` and `unknown` are checked when the
 * step ends.
 */
export type Recorded<T> = [T] extends [KeptByJson<T>] ? unknown : OutputIsNotJson<LossIn<T>>;

class DegradedResult {
  readonly value: unknown;
  readonly reason: string;
  constructor(value: unknown, reason: unknown) {
    this.value = value;
    this.reason = messageOf(reason ?? 'no reason is given');
  }
}

/** Returned by a body: the step ends as `degraded` with this value. The reason is kept as well-formed text. */
export function degraded<T>(value: T, reason: string): Degraded<T> {
  return new DegradedResult(value, reason) as unknown as Degraded<T>;
}

export function isDegraded(result: unknown): result is Degraded<unknown> {
  return result instanceof DegradedResult;
}
