/**
 * Appends to runs on behalf of callers: users, triggers, other runs. Owns the access check of a run, and the error for an
 * unknown outcome.
 *
 * Must not: decide anything about a run; that is the caller's `decide`.
 */
import { isRunId } from '../core/encoding/ids.ts';
import { CairnError } from '../core/errors.ts';
import { appendUnleased, type DecideAt } from '../journal/append-unleased.ts';
import type { Appended, JournalDeps } from '../journal/run-journal.ts';
import { sendUntilKnown } from '../journal/send-until-known.ts';
import type { LoadedRun } from '../ports/run-store.ts';
import { OutcomeUnknown } from '../ports/store-errors.ts';

export interface RunOfTenant {
  readonly runId: string;
  /** Tenant of the caller. A run of another tenant gets exactly the response of a run that does not exist. */
  readonly tenantId: string;
}

interface RunAppend extends RunOfTenant {
  readonly decide: DecideAt;
}

/** @throws CairnError RUN_NOT_FOUND, UNAVAILABLE (send the same again), or what `decide` throws */
export async function appendToRun(deps: JournalDeps, { decide, ...target }: RunAppend): Promise<Appended> {
  const loaded = await loadOwn(deps, target);
  try {
    return await appendUnleased(deps, loaded, decide);
  } catch (error) {
    if (!(error instanceof OutcomeUnknown)) throw error;
    throw new CairnError(
      'UNAVAILABLE',
      'too many concurrent writes to the run, or the store did not respond in time',
      { cause: error },
    );
  }
}

/** The run, if it belongs to the caller's tenant. @throws CairnError RUN_NOT_FOUND, UNAVAILABLE */
export async function loadOwn(deps: JournalDeps, { runId, tenantId }: RunOfTenant): Promise<LoadedRun> {
  const load = () => deps.store.load(runId, tenantId);
  const loaded = isRunId(runId) ? await sendUntilKnown(deps, load) : undefined;
  if (loaded?.state.tenantId === tenantId) return loaded;
  throw runNotFound();
}

/** The same error for a run of another tenant, a run that does not exist, and an invalid id. */
export function runNotFound(): CairnError {
  return new CairnError('RUN_NOT_FOUND', 'no run with this id', { field: 'id' });
}
