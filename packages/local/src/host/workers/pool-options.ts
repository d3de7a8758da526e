/** Options of a pool of workers. */
import type { WorkerOptions } from './worker-process.ts';

export interface PoolOptions extends WorkerOptions {
  /** Workers for task-queue functions. */
  readonly workers: number;
  /** True if functions of different roles have different workers; otherwise one worker serves all. */
  readonly roles: boolean;
  /** False: an additional process is started when a request needs it, and loads while the request waits. */
  readonly keepsSpare: boolean;
  /** A worker without a heartbeat for this time is killed; a stopped one sooner. */
  readonly watchdogMs: number;
  /** Logs a line about a worker that ended unexpectedly. */
  log(line: string): void;
}
