/**
 * What code of others threw, made fit to be looked at. Anything can be thrown, also what throws when it is looked at: an
 * error with a getter that fails, a proxy, something without a text. Whoever catches what an author's function or a binding
 * threw looks at it only through here, so that the engine does not fail in its place.
 *
 * Must not: say what follows from it.
 */

/** What is looked at later: by whoever decides about a retry, and by logs. */
const LOOKED_AT = ['name', 'message', 'stack', 'code', 'cause'] as const;
const UNREADABLE = 'the thrown value cannot be read';

/** What was thrown, or an error in its place if a look at it would throw. */
export function readable(thrown: unknown): unknown {
  if ((typeof thrown !== 'object' && typeof thrown !== 'function') || thrown === null) return thrown;
  try {
    // The first is the look that `instanceof` takes, the others those of whoever reads a member.
    Object.getPrototypeOf(thrown);
    for (const member of LOOKED_AT) (thrown as Record<string, unknown>)[member];
    return thrown;
  } catch {
    return new Error(UNREADABLE);
  }
}

/** In words, however long; well-formed. Never throws. */
export function messageOf(thrown: unknown): string {
  try {
    const text = thrown instanceof Error ? thrown.message : thrown;
    return String(text).toWellFormed();
  } catch {
    return 'the thrown value has no text';
  }
}

/** Where an error was made, if it says so; however long, well-formed. Never throws. */
export function stackOf(thrown: unknown): string | undefined {
  try {
    const stack = thrown instanceof Error ? thrown.stack : undefined;
    return typeof stack === 'string' && stack !== '' ? stack.toWellFormed() : undefined;
  } catch {
    return undefined;
  }
}
