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
const MORE_WHILE_HANGING = 2;
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
