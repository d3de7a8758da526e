/**
 * Number of runs by status of a tenant, for displays that are polled frequently. An instance caches the counts for all
 * callers.
 *
 * Must not: be used for decisions.
 */
import { RUN_STATUSES, type RunStatus } from '../../core/run/status.ts';
import type { Clock } from '../../ports/clock.ts';
import type { RunFilter } from '../../ports/run-store.ts';
import type { RunFinder } from '../../ports/runs/run-finder.ts';
import { SharedAnswers } from '../shared-answers.ts';

/** Most runs counted per status: at most ten billed reads each, ninety in total. */
export const MAX_COUNTED = 10_000;
/** Time a count is cached, ms. */
export const COUNTS_KEPT_MS = 2_000;
const QUESTIONS_KEPT = 500;

type CountQuestion = Pick<RunFilter, 'tenantId' | 'type' | 'repoId' | 'threadId' | 'tag'>;

export interface RunCounts {
  readonly counts: Readonly<Record<RunStatus, number>>;
  /** True if at least one count is {@link MAX_COUNTED} or more. */
  readonly isCut: boolean;
}

export class CountedRuns {
  readonly #finder: Pick<RunFinder, 'count'>;
  readonly #shared: SharedAnswers<RunCounts>;

  constructor(finder: Pick<RunFinder, 'count'>, clock: Pick<Clock, 'now'>) {
    this.#finder = finder;
    this.#shared = new SharedAnswers({ clock, ttlMs: COUNTS_KEPT_MS, most: QUESTIONS_KEPT });
  }

  count(question: CountQuestion): Promise<RunCounts> {
    const { tenantId, type, repoId, threadId, tag } = question;
    const key = JSON.stringify([tenantId, type ?? null, repoId ?? null, threadId ?? null, tag ?? null]);
    return this.#shared.get(key, () => countEach(this.#finder, question));
  }
}

async function countEach(finder: Pick<RunFinder, 'count'>, question: CountQuestion): Promise<RunCounts> {
  const counted = await Promise.all(
    RUN_STATUSES.map(
      async (status) => [status, await finder.count({ ...question, status }, MAX_COUNTED)] as const,
    ),
  );
  return {
    counts: Object.fromEntries(counted) as Record<RunStatus, number>,
    isCut: counted.some(([, runs]) => runs >= MAX_COUNTED),
  };
}
