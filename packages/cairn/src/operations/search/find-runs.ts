/**
 * Finds runs of a tenant by an identifier. Read-only.
 *
 * Must not: distinguish runs of other tenants from unknown ones, in responses or in reads.
 */

import { githubKey } from '../../core/encoding/idempotency-keys.ts';
import { isRunId, isRunIdPrefix } from '../../core/encoding/ids.ts';
import { wakeAt } from '../../core/run/wake.ts';
import { foundAs, MAX_SEARCHED_CHARS, type NameOfRun, nameIn } from '../../core/search/found-by.ts';
import { listedWaits } from '../../core/search/listing.ts';
import type { Clock } from '../../ports/clock.ts';
import type { IdempotencyStore } from '../../ports/idempotency-store.ts';
import type { ListedRun, LoadedRun, RunStore } from '../../ports/run-store.ts';
import type { RunFinder } from '../../ports/runs/run-finder.ts';

/** An identifier that more runs share (a thread, a pull request) should be used as a filter of the list. */
export const MAX_FOUND = 20;
/** Form of GitHub delivery ids. */
const DELIVERY = /^[A-Za-z0-9-]{1,100}$/;

interface FindDeps {
  readonly store: Pick<RunStore, 'load'>;
  readonly finder: Pick<RunFinder, 'named' | 'beginning'>;
  readonly records: Pick<IdempotencyStore, 'read'>;
  readonly clock: Clock;
}

interface FoundRun {
  readonly by: NameOfRun;
  readonly run: ListedRun;
}

/**
 * Returns at most {@link MAX_FOUND}, the newest first. A run id takes one read, a prefix of one a query by id. Anything else takes
 * one query, and one more read if the text may be a delivery that created no run of its own.
 */
export async function findRuns(deps: FindDeps, tenantId: string, text: string): Promise<readonly FoundRun[]> {
  const name = nameIn(text);
  if (name === '' || name.length > MAX_SEARCHED_CHARS) return [];
  if (isRunId(name)) return one('run', await deps.store.load(name, tenantId));
  if (isRunIdPrefix(name)) {
    const beginning = await deps.finder.beginning(tenantId, name, MAX_FOUND);
    if (beginning.length > 0) return beginning.map((run) => ({ by: 'run', run }));
  }
  const named = await deps.finder.named(tenantId, name, MAX_FOUND);
  const found = named.flatMap((run) => {
    const by = foundAs(run.state, name);
    return by === undefined ? [] : [{ by, run }];
  });
  return found.length > 0 ? found : sameEvent(deps, tenantId, name);
}

/** Several webhooks of a repository deliver one event several times: all deliveries lead to the run of the first. */
async function sameEvent(
  { records, store, clock }: FindDeps,
  tenantId: string,
  name: string,
): Promise<readonly FoundRun[]> {
  if (!DELIVERY.test(name)) return [];
  const { record } = (await records.read(githubKey(name))) ?? {};
  if (record?.tenantId !== tenantId || record.runId === undefined) return [];
  if (clock.now() >= record.expiresAt) return [];
  return one('delivery', await store.load(record.runId, tenantId));
}

function one(by: NameOfRun, loaded: LoadedRun | undefined): readonly FoundRun[] {
  if (!loaded) return [];
  const { state, metadata } = loaded;
  return [{ by, run: { state, metadata, waits: listedWaits(state.waits), wakeAt: wakeAt(state, metadata) } }];
}
