/** Checks and signals other processes by id. */

/**
 * @param pid id of a process that a test started
 * @throws TypeError for an invalid id; the error of `process.kill` if there is no such process
 */
export function signalTo(pid: number | undefined, signal: NodeJS.Signals): asserts pid is number {
  assertOther(pid);
  process.kill(pid, signal);
}

/** False once the process has ended and was reaped. @throws TypeError for an invalid id, like {@link signalTo} */
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

/** Refuses unknown ids, because an unknown process has the id 0, and a signal to 0 ends the tests and their caller. */
function assertOther(pid: number | undefined): asserts pid is number {
  if (pid === undefined || !Number.isSafeInteger(pid) || pid <= 1)
    throw new TypeError(`process ${pid} is none of a test`);
}
