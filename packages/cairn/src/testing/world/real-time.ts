/**
 * Waits in real time while a body reads a file or calls a server, so that simulated time does not pass. The only file of the kit
 * that waits.
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
