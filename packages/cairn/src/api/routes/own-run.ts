/** The run that a request names. A run of another tenant gets the same response as one that does not exist. */
import { isRunId } from '../../core/encoding/ids.ts';
import { loadOwn, runNotFound } from '../../operations/append-to-run.ts';
import type { LoadedRun } from '../../ports/run-store.ts';
import type { Caller } from '../auth.ts';
import type { ApiDeps } from '../deps.ts';

/** A request whose path names a run. */
interface AboutRun {
  readonly deps: ApiDeps;
  readonly caller: Caller;
  readonly params: { readonly id: string };
}

/** The run and the caller, in the form that operations take. */
export function runOf({ params, caller }: Omit<AboutRun, 'deps'>) {
  return { runId: params.id, tenantId: caller.tenantId, actor: caller.principal };
}

/** For reads, without a retry. @throws CairnError RUN_NOT_FOUND */
export async function ownRun({ deps, caller, params }: AboutRun): Promise<LoadedRun> {
  const { tenantId } = caller;
  const loaded = isRunId(params.id) ? await deps.store.load(params.id, tenantId) : undefined;
  if (loaded?.state.tenantId === tenantId) return loaded;
  throw runNotFound();
}

/**
 * Runs before a change: a request about an unknown run leaves no record. @throws CairnError RUN_NOT_FOUND,
 * UNAVAILABLE
 */
export function assertOwnRun(about: AboutRun): Promise<LoadedRun> {
  return loadOwn(about.deps, runOf(about));
}
