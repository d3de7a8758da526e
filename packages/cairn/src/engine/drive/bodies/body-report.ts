/**
 * Report of a dispatch about its running bodies: the newest progress of each, and the lines that they log. Written with the next
 * snapshot; the progress of a body is passed to its next attempt.
 */
import { MAX_RUNNING_REPORTED, type RunningStep, SHOW_AFTER_MS } from '../../../core/run/now/running.ts';
import type { Progress, VolatileMetadata } from '../../../core/run/state.ts';
import type { BodyUpdates } from '../../../journal/options.ts';
import type { MetadataUpdate } from '../../../ports/run-store.ts';
import { RunLog } from './run-log.ts';

export class BodyReport implements BodyUpdates {
  readonly log: RunLog;
  readonly #last: Map<string, Progress>;
  readonly #running = new Map<string, RunningStep>();
  /** Keys of bodies whose start is in no snapshot yet. */
  readonly #unshown = new Set<string>();
  /** Keys that the newest snapshot lists as running, including those of an earlier dispatch. */
  #reported: readonly string[];
  #hasNewProgress = false;

  /** @param before report of the previous dispatch, from the snapshot */
  constructor(before: Pick<VolatileMetadata, 'inFlight' | 'running' | 'logs'> = {}) {
    this.log = new RunLog(before.logs);
    this.#last = new Map(before.inFlight?.map((progress) => [progress.step, progress]));
    this.#reported = before.running?.map(nameOf) ?? [];
  }

  note(progress: Progress): void {
    this.#last.set(progress.step, progress);
    this.#hasNewProgress = true;
  }

  lastOf(step: string): string | undefined {
    return this.#last.get(step)?.detailsText;
  }

  forget(step: string): void {
    if (this.#last.delete(step)) this.#hasNewProgress = true;
  }

  begun(attempt: RunningStep): void {
    this.#running.set(attempt.step, attempt);
    this.#unshown.add(attempt.step);
    this.log.begun(attempt, attempt.since);
  }

  ended(step: string): void {
    this.#running.delete(step);
    this.#unshown.delete(step);
  }

  /** Time to write a snapshot for the oldest unreported body or line, epoch ms. */
  get dueAt(): number {
    return Math.min(this.#firstUnshown() + SHOW_AFTER_MS, this.log.dueAt);
  }

  #firstUnshown(): number {
    let first = Number.POSITIVE_INFINITY;
    for (const step of this.#unshown) first = Math.min(first, this.#running.get(step)?.since ?? first);
    return first;
  }

  get isUrgent(): boolean {
    return this.log.isUrgent;
  }

  take(isRelease: boolean): Pick<MetadataUpdate, 'inFlight' | 'running' | 'logged'> {
    const running = isRelease ? [] : [...this.#running.values()].slice(0, MAX_RUNNING_REPORTED);
    const names = running.map(nameOf);
    const isNew =
      names.length !== this.#reported.length || names.some((name, at) => name !== this.#reported[at]);
    const hasNewProgress = this.#hasNewProgress;
    this.#unshown.clear();
    this.#reported = names;
    this.#hasNewProgress = false;
    const logged = this.log.take();
    return {
      ...(logged ? { logged } : {}),
      ...(hasNewProgress ? { inFlight: [...this.#last.values()] } : {}),
      ...(isNew ? { running } : {}),
    };
  }

  putBack(): void {
    for (const step of this.#running.keys()) this.#unshown.add(step);
    this.#reported = [UNKNOWN];
    this.#hasNewProgress = true;
    this.log.putBack();
  }
}

/** An entry that is no attempt's name, so that the next snapshot is written in any case. */
const UNKNOWN = '';

function nameOf({ step, revision, attempt, undoes }: RunningStep): string {
  return `${step} ${revision} ${attempt}${undoes ? ' undone' : ''}`;
}
