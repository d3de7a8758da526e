/**
 * Bodies that this process has not run before. A worker of the local cloud answers callers too, and a body may block or end it: so
 * the worker is asked before the first run of each, and holds it until the callers have their answers.
 */

/** By name; undefined once the body may begin. */
const asked = new Map<string, Promise<unknown> | undefined>();
/** Then all count as new again. A process has a few hundred bodies; names of those in a plan come from its author. */
const MOST_ASKED = 10_000;

/** Resolves when the body may begin; undefined: at once, as in all but its first runs. */
export function admitNewBody(body: string): Promise<unknown> | undefined {
  if (asked.has(body)) return asked.get(body);
  if (asked.size >= MOST_ASKED) asked.clear();
  const waits: Promise<unknown>[] = [];
  process.emit('cairn:new-body' as 'message', waits, undefined);
  // A wait protects the callers, not the body: one that fails is over.
  const admitted =
    waits.length === 0 ? undefined : Promise.allSettled(waits).then(() => asked.set(body, undefined));
  asked.set(body, admitted);
  return admitted;
}
