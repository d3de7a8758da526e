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

/** Most runs counted per status: at most ten billed reads each, ninety in total. */
export const MOST_COUNTED = 10_000;
/** For so long a count is taken as known, ms: numbers on a screen need not be newer. */
export const COUNTS_KEPT_MS = 2_000;
/** Different questions an instance remembers the answers of, whatever callers make up. */
const QUESTIONS_KEPT = 500;

export type CountQuestion = Pick<RunFilter, 'tenantId' | 'type' | 'repoId' | 'threadId' | 'tag'>;

export interface RunCounts {
  readonly counts: Readonly<Record<RunStatus, number>>;
  /** At least one of them is {@link MOST_COUNTED} or more. */
  readonly isCut: boolean;
}

interface KeptCounts {
  /** Epoch ms. */
  readonly at: number;
  readonly counting: Promise<RunCounts>;
}

export class CountedRuns {
  readonly #finder: Pick<RunFinder, 'count'>;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #kept = new Map<string, KeptCounts>();

  constructor(finder: Pick<RunFinder, 'count'>, clock: Pick<Clock, 'now'>) {
    this.#finder = finder;
    this.#clock = clock;
  }

  /** Concurrent callers share one count; a failed one is not cached. */
  count(question: CountQuestion): Promise<RunCounts> {
    const { tenantId, type, repoId, threadId, tag } = question;
    const key = JSON.stringify([tenantId, type ?? null, repoId ?? null, threadId ?? null, tag ?? null]);
    const now = this.#clock.now();
    const known = this.#kept.get(key);
    if (known && now - known.at < COUNTS_KEPT_MS) return known.counting;
    const kept: KeptCounts = { at: now, counting: countEach(this.#finder, question) };
    this.#kept.delete(key);
    this.#kept.set(key, kept);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > QUESTIONS_KEPT && oldest !== undefined) this.#kept.delete(oldest);
    kept.counting.catch(() => {
      if (this.#kept.get(key) === kept) this.#kept.delete(key);
    });
    return kept.counting;
  }
}

async function countEach(finder: Pick<RunFinder, 'count'>, question: CountQuestion): Promise<RunCounts> {
  const counted = await Promise.all(
    RUN_STATUSES.map(
      async (status) => [status, await finder.count({ ...question, status }, MOST_COUNTED)] as const,
    ),
  );
  return {
    counts: Object.fromEntries(counted) as Record<RunStatus, number>,
    isCut: counted.some(([, runs]) => runs >= MOST_COUNTED),
  };
}
