/** Finds a cycle in the wait graph. Pure. */

/**
 * The members of a cycle that is reachable from `start`; undefined if there is none. `next` returns the owners that an owner waits for,
 * and is called once for each reachable owner.
 */
export function circleThrough<T>(start: T, next: (waiter: T) => Iterable<T>): T[] | undefined {
  return walk(start, { next, finished: new Set() }, []);
}

interface GraphWalk<T> {
  readonly next: (waiter: T) => Iterable<T>;
  readonly finished: Set<T>;
}

function walk<T>(at: T, state: GraphWalk<T>, path: readonly T[]): T[] | undefined {
  const seen = path.indexOf(at);
  if (seen >= 0) return path.slice(seen);
  if (state.finished.has(at)) return undefined;
  for (const blocker of state.next(at)) {
    const found = walk(blocker, state, [...path, at]);
    if (found) return found;
  }
  state.finished.add(at);
  return undefined;
}
