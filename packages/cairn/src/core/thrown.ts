/**
 * Safe access to values thrown by foreign code. Anything can be thrown, including values that throw when read: an error with a
 * failing getter, a proxy, a value without text. All code that catches errors of authors' functions or bindings reads them
 * through this module.
 *
 * Must not: decide about consequences.
 */
import { beginningOfJson } from './encoding/bounded-json.ts';
import { cut } from './run/records.ts';

/** Members read later by retry decisions and logs. */
const MEMBERS_READ = ['name', 'message', 'stack', 'code', 'cause'] as const;
/** Longest text of an object without a message. */
const MAX_OBJECT_CHARS = 64 * 1024;
/** Most elements of an array in its message. */
const MAX_ELEMENTS = 10;
const UNREADABLE = 'the thrown value cannot be read';
/** Most errors that are read of a thrown value and its causes. Cairn's own errors have at most three causes. */
const MAX_CHAIN = 5;
/** Separates the stack of an error from that of its cause. */
const CAUSED_BY = '\ncaused by: ';

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

/**
 * The thrown value and its causes, each readable. The reason is often only in a cause: `fetch` throws `fetch failed`, and the refused
 * connection is its cause, or one of the `errors` of its cause if a name has several addresses. A chain may be circular.
 */
function chainOf(thrown: unknown): readonly unknown[] {
  const chain: unknown[] = [];
  const rest = [thrown];
  while (rest.length > 0 && chain.length < MAX_CHAIN) {
    const error = readableThrown(rest.shift());
    if (chain.includes(error)) continue;
    chain.push(error);
    rest.unshift(...causesOf(error));
  }
  return chain;
}

function causesOf(error: unknown): readonly unknown[] {
  if (!(error instanceof Error)) return [];
  try {
    const { cause, errors } = error as { readonly cause?: unknown; readonly errors?: unknown };
    const several: readonly unknown[] = Array.isArray(errors) ? errors.slice(0, MAX_CHAIN) : [];
    return cause === undefined || cause === null ? several : [cause, ...several];
  } catch {
    return [];
  }
}

/** The message with those of the causes that it does not contain. For texts of Cairn: authors may compare their own messages. */
export function reasonOf(thrown: unknown): string {
  return chainOf(thrown)
    .map(messageOf)
    .reduce((said, text) => (said.includes(text) ? said : said === '' ? text : `${said}: ${text}`), '');
}

/**
 * The stack of the thrown value and of each cause; a value without a stack has its message. Undefined if nothing has a stack.
 *
 * @param most longest text. If all are longer, each is cut to the same length, so that the first cause is not cut off
 * @param mask removes secrets, before a cut could leave a part of one
 */
export function stacksOf(
  thrown: unknown,
  most: number,
  mask: (text: string) => string = String,
): string | undefined {
  const chain = chainOf(thrown);
  if (chain.every((error) => stackOf(error) === undefined)) return undefined;
  const stacks = chain.map((error) => mask(stackOf(error) ?? messageOf(error)));
  const whole = stacks.join(CAUSED_BY);
  if (whole.length <= most) return whole;
  const each = Math.floor((most - CAUSED_BY.length * (stacks.length - 1)) / stacks.length);
  return stacks.map((stack) => cut(stack, each)).join(CAUSED_BY);
}

/** A value in the form of a log line: an error as its stack, a bigint as its digits. */
export function loggable(value: unknown): unknown {
  if (value instanceof Error) return stackOf(value) ?? messageOf(value);
  return typeof value === 'bigint' ? String(value) : value;
}
