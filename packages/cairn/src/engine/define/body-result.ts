/** Types of a body's result: a value that JSON keeps as it is, or a degraded one. */
import type { Json } from '../../core/encoding/json.ts';
import { messageOf } from '../../core/thrown.ts';

declare const degradedValue: unique symbol;

/** A result that is worth less than what was asked for; see `degraded`. */
export interface Degraded<T> {
  readonly [degradedValue]: true;
  readonly value: T;
  readonly reason: string;
}

export type BodyResult<T> = T | Degraded<T> | Promise<T | Degraded<T>>;

/** Types whose values JSON would change on the way to the next step. */
type ChangedByJson =
  | Date
  | RegExp
  | bigint
  | symbol
  | ReadonlyMap<unknown, unknown>
  | ReadonlySet<unknown>
  | ArrayBuffer
  | ArrayBufferView
  | Promise<unknown>;

/** Named in the compiler's error. */
interface OutputIsNotJson {
  readonly 'return only strings, numbers, booleans, null, arrays and plain objects': never;
}

/** The type with an error type in place of each part that JSON does not preserve. */
type KeptByJson<T> = unknown extends T
  ? T
  : T extends Json
    ? T
    : T extends ChangedByJson
      ? OutputIsNotJson
      : T extends object
        ? { [K in keyof T]: KeptByJson<T[K]> }
        : T;

/**
 * Type check of a body's result, so that an error appears at the body. Values of unknown types are checked when the
 * step ends.
 */
export type Recorded<T> = [T] extends [KeptByJson<T>] ? unknown : OutputIsNotJson;

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
