/**
 * Real time, of which the kit needs a little: a body may read a file or call a server, and pretended time must not run
 * out on it meanwhile. The only file of the kit that waits for anything.
 */

/** Resolves to true once one of `ends` has, or to false after `patienceMs` of real time. */
export async function anyWithin(patienceMs: number, ends: readonly Promise<void>[]): Promise<boolean> {
  const patience = Promise.withResolvers<false>();
  const timer = setTimeout(() => patience.resolve(false), patienceMs);
  try {
    return await Promise.race([...ends.map((end) => end.then(() => true)), patience.promise]);
  } finally {
    clearTimeout(timer);
  }
}
