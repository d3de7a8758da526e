/**
 * Fires scheduled functions as Cloud Scheduler would: one HTTP POST per slot, never two of one job at a time. Owns the jobs'
 * timers; `dispatch` sends the requests.
 */

import { isDeepStrictEqual } from 'node:util';
import type { Cancel, ServerClock } from '@cairn/local-kit/time/clock';
import type { Dispatch } from '@cairn/local-tasks/attempt';
import type { FunctionSpec, ScheduleTrigger } from '../host/function-spec.ts';
import { type CronSchedule, readSchedule } from './schedule.ts';
import { SCHEDULED } from './scheduled-call.ts';

interface SchedulerOptions {
  readonly clock: ServerClock;
  readonly dispatch: Dispatch;
  readonly functionsUrl: string;
  readonly minuteMs: number;
  log(line: string): void;
}

interface ScheduledJob {
  readonly spec: FunctionSpec;
  readonly trigger: ScheduleTrigger;
  readonly schedule: CronSchedule;
}

/** Pause before a failed execution is repeated, if the function asks for repeats. */
const RETRY_PAUSE_MS = 5_000;

export class Scheduler {
  readonly #options: SchedulerOptions;
  readonly #cancels = new Map<string, Cancel>();
  readonly #jobs = new Map<string, ScheduledJob>();
  /** Names of the jobs that are being executed, replaced and removed ones included. */
  readonly #running = new Set<string>();
  readonly #stopped = new AbortController();

  constructor(options: SchedulerOptions) {
    this.#options = options;
  }

  /**
   * Schedules the functions. `every N minutes` also fires immediately, so that interrupted work continues right after a restart.
   * An invalid schedule is logged and not run.
   */
  start(functions: Iterable<FunctionSpec>): void {
    for (const spec of functions) {
      const job = this.#jobOf(spec);
      if (job && /^every \d+ min/i.test(job.trigger.schedule))
        void this.#fire(job, this.#options.clock.now());
      else if (job) this.#arm(job);
    }
  }

  /**
   * The functions were reloaded: unchanged schedules keep their next slot, new ones start, removed ones end. Nothing
   * fires immediately, because this happens on every edit.
   */
  replace(functions: readonly FunctionSpec[]): void {
    const scheduled = new Map(functions.map((spec) => [spec.name, spec]));
    for (const [name, { trigger }] of this.#jobs) {
      const next = scheduled.get(name)?.trigger;
      if (next?.kind === 'schedule' && isDeepStrictEqual(next, trigger)) scheduled.delete(name);
      else this.#end(name);
    }
    for (const spec of scheduled.values()) {
      const job = this.#jobOf(spec);
      if (job) this.#arm(job);
    }
  }

  #end(name: string): void {
    this.#jobs.delete(name);
    this.#cancels.get(name)?.();
    this.#cancels.delete(name);
  }

  /** Undefined without a schedule, or with an invalid one, which is logged. */
  #jobOf(spec: FunctionSpec): ScheduledJob | undefined {
    if (spec.trigger.kind !== 'schedule') return undefined;
    const { trigger } = spec;
    const { minuteMs, log } = this.#options;
    try {
      const schedule = readSchedule(trigger.schedule, { timeZone: trigger.timeZone, minuteMs });
      const job = { spec, trigger, schedule };
      this.#jobs.set(spec.name, job);
      return job;
    } catch (error) {
      log(`function '${spec.name}' is not scheduled: ${(error as Error).message}`);
      return undefined;
    }
  }

  stop(): void {
    this.#stopped.abort();
    for (const cancel of this.#cancels.values()) cancel();
  }

  #arm(job: ScheduledJob): void {
    // The job was replaced while it fired.
    if (this.#stopped.signal.aborted || this.#jobs.get(job.spec.name) !== job) return;
    const slot = job.schedule.next(this.#options.clock.now());
    this.#cancels.set(
      job.spec.name,
      this.#options.clock.at(slot, () => void this.#fire(job, slot)),
    );
  }

  async #fire(job: ScheduledJob, slot: number): Promise<void> {
    const { name } = job.spec;
    // Skips the slot if the previous version of the job is still running.
    if (!this.#running.has(name)) {
      this.#running.add(name);
      await this.#execute(job, slot);
      this.#running.delete(name);
    }
    this.#arm(job);
  }

  /** A job that was removed or replaced is not repeated. */
  async #execute(job: ScheduledJob, slot: number): Promise<void> {
    for (let attempt = 0; attempt <= job.trigger.retryCount; attempt++) {
      if (attempt > 0) await this.#pause();
      if (this.#stopped.signal.aborted || this.#jobs.get(job.spec.name) !== job) return;
      if (await this.#attempt(job.spec, slot)) return;
    }
  }

  async #attempt(spec: FunctionSpec, slot: number): Promise<boolean> {
    const { dispatch, functionsUrl, log } = this.#options;
    const outcome = await dispatch({
      url: `${functionsUrl}/${spec.name}`,
      method: 'POST',
      headers: {
        'User-Agent': 'Google-Cloud-Scheduler',
        [SCHEDULED]: 'true',
        'X-CloudScheduler-JobName': `firebase-schedule-${spec.name}-${spec.region}`,
        'X-CloudScheduler-ScheduleTime': new Date(slot).toISOString(),
      },
      body: new Uint8Array(),
      signal: this.#stopped.signal,
    }).catch((error: unknown) => ({ kind: 'unreachable' as const, reason: String(error) }));
    if (outcome.kind === 'answered' && outcome.status < 300) return true;
    const what = outcome.kind === 'answered' ? `answered ${outcome.status}` : outcome.kind;
    if (!this.#stopped.signal.aborted) log(`scheduled function '${spec.name}' failed: ${what}`);
    return false;
  }

  #pause(): Promise<void> {
    const { clock } = this.#options;
    return new Promise((resolve) => {
      clock.at(clock.now() + RETRY_PAUSE_MS, resolve);
      this.#stopped.signal.addEventListener('abort', () => resolve(), { once: true });
    });
  }
}
