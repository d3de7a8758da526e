/**
 * The time from which all runs of a tenant have entries in the index of matches: earlier versions of Cairn created runs without.
 * Found by counting, once an hour for each tenant and instance; a count is billed as one read.
 */
import { INDEXED } from '../../core/search/match-index.ts';
import type { Clock } from '../../ports/clock.ts';
import type { RunFilter } from '../../ports/run-store.ts';
import type { RunFinder } from '../../ports/runs/run-finder.ts';
import { SharedAnswers } from '../shared-answers.ts';

const HOUR_MS = 3_600_000;
const KEPT_MS = HOUR_MS;
const TENANTS_KEPT = 1_000;
/** While a new version is deployed, instances of the earlier version still create runs. */
const DEPLOYING_MS = HOUR_MS;

type Counting = Pick<RunFinder, 'count'>;

export class IndexedRuns {
  readonly #finder: Counting;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #shared: SharedAnswers<number>;

  constructor(finder: Counting, clock: Pick<Clock, 'now'>) {
    this.#finder = finder;
    this.#clock = clock;
    this.#shared = new SharedAnswers({ clock, ttlMs: KEPT_MS, most: TENANTS_KEPT });
  }

  /** Epoch ms: runs created then or later have entries. 0: all have them; infinite: none has. */
  since(tenantId: string): Promise<number> {
    return this.#shared.get(tenantId, () => since(this.#finder, tenantId, this.#clock.now()));
  }
}

async function since(finder: Counting, tenantId: string, now: number): Promise<number> {
  const indexed = { tenantId, among: [INDEXED] };
  const isNone = async (filter: RunFilter) => (await finder.count(filter, 1)) === 0;
  if (await isNone(indexed)) return (await isNone({ tenantId })) ? 0 : Number.POSITIVE_INFINITY;
  /** The first run with entries was created at `none` or later, and before `some`. */
  let [none, some] = [0, now + 1];
  const narrow = async (toMs: number) => {
    while (some - none > toMs) {
      const createdBefore = Math.floor((none + some) / 2);
      if (await isNone({ ...indexed, createdBefore })) none = createdBefore;
      else some = createdBefore;
    }
    return isNone({ tenantId, createdBefore: none });
  };
  if ((await narrow(HOUR_MS)) && (await narrow(1))) return 0;
  return some + DEPLOYING_MS;
}
