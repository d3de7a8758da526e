/**
 * Real time, which the kit needs in one case: a body may read a file or call a server, and simulated time must not run out
 * meanwhile. The only file of the kit that waits.
 */

/** Resolves to true once one of `ends` has, or to false after `patienceMs` of real time. */
export async function anyWithin(patienceMs: number, ends: readonly Promise<void>[]): Promise<boolean> {
  const timeout = Promise.withResolvers<false>();
  const timer = setTimeout(() => timeout.resolve(false), patienceMs);
  try {
    return await Promise.race([...ends.map((end) => end.then(() => true)), timeout.promise]);
  } finally {
    clearTimeout(timer);
  }
}
