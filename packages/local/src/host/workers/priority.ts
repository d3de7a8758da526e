/**
 * The processor time of workers that run bodies of steps: the cloud process and the worker of the API come first, as they have
 * processors of their own in production.
 */
import { constants, getPriority, setPriority } from 'node:os';

/** A third of the time that a process without it gets beside it. */
const LOWER_BY = 5;

/** Cannot be undone by a process without privileges. */
export function lowerPriority(pid: number): void {
  try {
    setPriority(pid, Math.min(getPriority() + LOWER_BY, constants.priority.PRIORITY_LOW));
  } catch {
    // The process has ended, which its pool notices; or the system does not allow it, and it is only slower to share.
  }
}
