/** Other processes, by their ids: whether they live, and signals to them. */

/**
 * @param pid of a process that a test started or was told of
 * @throws TypeError unless it is one: a process that is not known (yet) would be 0, and a signal to 0 ends the tests themselves, with whoever
 * started them. And as `process.kill`, if there is no such process
 */
export function signalTo(pid: number | undefined, signal: NodeJS.Signals): asserts pid is number {
  if (pid === undefined || !Number.isSafeInteger(pid) || pid <= 1)
    throw new TypeError(`${signal} to process ${pid}, which is none of a test`);
  process.kill(pid, signal);
}

export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
