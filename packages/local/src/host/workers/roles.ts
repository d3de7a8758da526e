/**
 * Assigns functions to worker processes, so that a body that blocks or kills its process affects no function of another role.
 * Pure.
 */
import type { FunctionSpec } from '../function-spec.ts';

/** `requests`, `tasks`, or `alone:{function}`. */
export type WorkerRole = string;

/** HTTP functions, schedules and messages, which run no bodies of steps. */
export const REQUESTS: WorkerRole = 'requests';
/** Task-queue functions. */
export const TASKS: WorkerRole = 'tasks';

/** Number of processes of a role. */
export interface RoleSize {
  /** Kept alive at all times. */
  readonly wanted: number;
  /** Maximum, including additional processes. */
  readonly most: number;
  /** True if a request gets an additional process when all others are full; otherwise it waits. */
  readonly growsWhenFull: boolean;
  /** True if the process ends after one request, because leftovers such as a timer that throws could harm the next request. */
  readonly servesOnce: boolean;
}

/** Most additional processes while all others of the role hang. They end when idle. */
export const MORE_WHILE_HANGING = 4;
/** Limit because each takes up to 150 MB while it works. Further requests wait. */
const ALONE_AT_MOST = 4;

/** A task-queue function with a concurrency of 1 has its own processes. */
export function roleOf({ name, trigger, concurrency }: FunctionSpec): WorkerRole {
  if (trigger.kind !== 'task-queue') return REQUESTS;
  return concurrency === 1 ? `alone:${name}` : TASKS;
}

/** @param workers value of `--workers` */
export function sizeOf(role: WorkerRole, workers: number): RoleSize {
  if (role === REQUESTS || role === TASKS) {
    const wanted = role === REQUESTS ? 1 : workers;
    return { wanted, most: wanted + MORE_WHILE_HANGING, growsWhenFull: false, servesOnce: false };
  }
  return { wanted: 0, most: ALONE_AT_MOST, growsWhenFull: true, servesOnce: true };
}

/** Least `concurrency` at which limits are per user. A function that declares less limits its process, for example for its memory. */
const SHARED_FROM = 16;
/** A worker serves its `concurrency` times this for all users together; production would start other instances. */
const MOST_OF_ALL = 2;

/** Numbers of requests of a function that a worker serves. */
interface UnderWay {
  readonly own: number;
  readonly all: number;
}

/**
 * True if a worker may serve one more request of a user of the function, such as a queue or a caller. Each user has its own limit, as in
 * its own instance, so a user that reaches it delays only itself.
 */
export function hasRoom(concurrency: number, { own, all }: UnderWay): boolean {
  if (concurrency < SHARED_FROM) return all < concurrency;
  return own < concurrency && all < MOST_OF_ALL * concurrency;
}
