/**
 * Safe access to values thrown by foreign code. Anything can be thrown, including values that throw when read: an error with a
 * failing getter, a proxy, a value without text. All code that catches errors of authors' functions or bindings reads them
 * through this module.
 *
 * Must not: decide about consequences.
 */
import { beginningOfJson } from './encoding/bounded-json.ts';

/** Members read later by retry decisions and logs. */
const MEMBERS_READ = ['name', 'message', 'stack', 'code', 'cause'] as const;
/** Longest text of an object without a message. */
const MAX_OBJECT_CHARS = 64 * 1024;
/** Most elements of an array in its message. */
const MAX_ELEMENTS = 10;
const UNREADABLE = 'the thrown value cannot be read';

/** The thrown value, or an error in its place if reading it would throw. */
export function readableThrown(thrown: unknown): unknown {
  if ((typeof thrown !== 'object' && typeof thrown !== 'function') || thrown === null) return thrown;
  try {
    // `instanceof` reads the prototype; other callers read members.
    Object.getPrototypeOf(thrown);
    for (const member of MEMBERS_READ) (thrown as Record<string, unknown>)[member];
    return thrown;
  } catch {
    return new Error(UNREADABLE);
  }
}

/** The message of the error, well-formed and of any length. Never throws. */
export function messageOf(thrown: unknown): string {
  try {
    return textOf(thrown).toWellFormed();
  } catch {
    return 'the thrown value has no text';
  }
}

/** Some libraries throw objects that are no errors. They have a message like one, or only other members. */
function textOf(thrown: unknown): string {
  const { message } = (thrown ?? {}) as { readonly message?: unknown };
  if (thrown instanceof Error || typeof message === 'string') return String(message);
  if (Array.isArray(thrown) && thrown.length > 0) return textOfElements(thrown);
  const text = Array.isArray(thrown) ? '[]' : String(thrown);
  return text === '[object Object]' ? jsonOf(thrown) : text;
}

/** Some libraries throw a list of errors, which are `{}` in JSON. */
function textOfElements(thrown: readonly unknown[]): string {
  const texts = thrown
    .slice(0, MAX_ELEMENTS)
    .map((each) => (Array.isArray(each) ? jsonOf(each) : messageOf(each)));
  const left = thrown.length - texts.length;
  return [...texts, ...(left > 0 ? [`and ${left} more`] : [])].join(', ');
}

/** Undefined, despite the type, if there is no text; the caller then uses its own message. */
function jsonOf(thrown: unknown): string {
  return beginningOfJson(thrown, MAX_OBJECT_CHARS) as string;
}

/** Returns the stack of an error, if it has one, as well-formed text of any length. Never throws. */
export function stackOf(thrown: unknown): string | undefined {
  try {
    const stack = thrown instanceof Error ? thrown.stack : undefined;
    return typeof stack === 'string' && stack !== '' ? stack.toWellFormed() : undefined;
  } catch {
    return undefined;
  }
}

/** A value in the form of a log line: an error as its stack, a bigint as its digits. */
export function loggable(value: unknown): unknown {
  if (value instanceof Error) return stackOf(value) ?? messageOf(value);
  return typeof value === 'bigint' ? String(value) : value;
}
