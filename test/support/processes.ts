/** Other processes, by their ids: whether they live, and signals to them. */

/**
 * @param pid of a process that a test started or was told of
 * @throws TypeError unless it is one, and as `process.kill`, if there is no such process
 */
export function signalTo(pid: number | undefined, signal: NodeJS.Signals): asserts pid is number {
  assertOther(pid);
  process.kill(pid, signal);
}

/** False once the process has ended and was waited for. @throws TypeError unless it is one that {@link signalTo} takes */
export function isAlive(pid: number | undefined): boolean {
  assertOther(pid);
  try {
    return process.kill(pid, 0);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ESRCH') return false;
    // A process of another user.
    if (code === 'EPERM') return true;
    throw error;
  }
}

/** A process that is not known (yet) would be 0, and a signal to 0 ends the tests themselves, with whoever started them. */
function assertOther(pid: number | undefined): asserts pid is number {
  if (pid === undefined || !Number.isSafeInteger(pid) || pid <= 1)
    throw new TypeError(`process ${pid} is none of a test`);
}
