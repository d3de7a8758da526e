/**
 * Bodies that this process has not run before. A worker of the local cloud also serves callers, and a body may block or end it. So
 * the worker is asked before the first run of each body, and delays it until the callers have their responses.
 */

/** By name; undefined once the body may start. */
const asked = new Map<string, Promise<unknown> | undefined>();
/** At this number, all count as new again. A process has a few hundred bodies; authors choose the names in a plan. */
const MOST_ASKED = 10_000;

/** Resolves when the body may start. Undefined if it may start immediately, as in all but its first run. */
export function admitNewBody(body: string): Promise<unknown> | undefined {
  if (asked.has(body)) return asked.get(body);
  if (asked.size >= MOST_ASKED) asked.clear();
  const waits: Promise<unknown>[] = [];
  process.emit('cairn:new-body' as 'message', waits, undefined);
  // The delay protects the callers, not the body, so a failed one is over.
  const admitted =
    waits.length === 0 ? undefined : Promise.allSettled(waits).then(() => asked.set(body, undefined));
  asked.set(body, admitted);
  return admitted;
}
