/**
 * Lowers the priority of workers that run step bodies below that of the cloud process and the API's worker, which have their own
 * processors in production.
 */
import { constants, getPriority, setPriority } from 'node:os';

/** Gives a worker a third of the processor time of a process with normal priority. */
const LOWER_BY = 5;

/** A process without privileges cannot undo this. */
export function lowerPriority(pid: number): void {
  try {
    setPriority(pid, Math.min(getPriority() + LOWER_BY, constants.priority.PRIORITY_LOW));
  } catch {
    // The process has ended, which its pool notices, or the system does not allow it; then the others only get less time.
  }
}
