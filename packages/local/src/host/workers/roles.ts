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
  /** True if the process ends after one request, whose leftovers (a timer that throws) could harm the next one. */
  readonly servesOnce: boolean;
}

/** Additional processes while all others of the role hang. They end when they are idle. */
export const MORE_WHILE_HANGING = 4;
/** Each has up to 150 MB while it works; requests beyond that wait for one of them. */
const ALONE_AT_MOST = 4;

/** A task-queue function with a concurrency of 1 has processes of its own. */
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

/** From this `concurrency` on, users share a worker. A function that declares fewer has a reason in its process, such as its memory. */
const SHARED_FROM = 16;
/** A worker serves so many times its `concurrency` for all users, where production starts other instances. */
const MOST_OF_ALL = 2;

/** Requests of a function that a worker serves. */
interface UnderWay {
  readonly own: number;
  readonly all: number;
}

/**
 * True if a worker may serve one more request of a user of the function, such as a queue or a caller. Each user has the places of an
 * instance, so one that fills them delays only itself.
 */
export function hasRoom(concurrency: number, { own, all }: UnderWay): boolean {
  if (concurrency < SHARED_FROM) return all < concurrency;
  return own < concurrency && all < MOST_OF_ALL * concurrency;
}
