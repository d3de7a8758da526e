/**
 * Assigns functions to worker processes, so that a body that blocks or kills its process reaches no function of
 * another role. Pure.
 */
import type { FunctionSpec } from '../function-spec.ts';

/** `requests`, `tasks`, or `alone:{function}`. */
export type WorkerRole = string;

/** HTTP functions, schedules and messages: others wait for their answers. They run no bodies of steps. */
export const REQUESTS: WorkerRole = 'requests';
/** Task-queue functions. */
export const TASKS: WorkerRole = 'tasks';

/** Number of processes of a role. */
export interface RoleSize {
  /** Kept alive at all times. */
  readonly wanted: number;
  /** The most there may be, counting those started because the others cannot take a request. */
  readonly most: number;
  /** True if a request that finds all of them full gets another process; it waits otherwise. */
  readonly growsWhenFull: boolean;
  /** The process ends after one request, whose leftovers (a timer that throws) would harm the next one. */
  readonly servesOnce: boolean;
}

/** One more may be started while all others of the role hang; it ends when it has been idle. */
const MORE_WHILE_HANGING = 2;
/** Each has up to 150 MB while it works; requests beyond that wait for one of them. */
const ALONE_AT_MOST = 4;

/** A task-queue function that takes one request at a time is meant to be kept from all others. */
export function roleOf({ name, trigger, concurrency }: FunctionSpec): WorkerRole {
  if (trigger.kind !== 'task-queue') return REQUESTS;
  return concurrency === 1 ? `alone:${name}` : TASKS;
}

/** @param workers what `--workers` says */
export function sizeOf(role: WorkerRole, workers: number): RoleSize {
  if (role === REQUESTS || role === TASKS) {
    const wanted = role === REQUESTS ? 1 : workers;
    return { wanted, most: wanted + MORE_WHILE_HANGING, growsWhenFull: false, servesOnce: false };
  }
  return { wanted: 0, most: ALONE_AT_MOST, growsWhenFull: true, servesOnce: true };
}
