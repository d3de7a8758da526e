/**
 * Detects runs that may have acted before a restore without a record in the restored journal or ledger: those started before
 * the restore, by such a run, or from one. Ids and keys are derived from the earlier run, so the run could repeat its actions.
 */
import { mayHaveActed } from '../../core/recovery/restored.ts';
import type { RunState } from '../../core/run/state.ts';
import { CONFIG_AGE_MS } from '../admission.ts';
import type { EngineDeps } from '../deps.ts';

/** Limit of the ancestors checked: lineages have up to 50 runs, and deep families are rare. */
const MAX_ANCESTORS = 60;

type RestoredDeps = Pick<EngineDeps, 'runtime' | 'store'>;

/**
 * Time of the restore, epoch ms; undefined if no restore concerns the run. Makes no read in an installation that was never
 * restored, nor for a run older than the restore.
 *
 * @throws read errors: then the time is unknown, and no call may be made
 */
export async function restoreBefore(
  { runtime, store }: RestoredDeps,
  state: RunState,
): Promise<number | undefined> {
  const at = (await runtime.current(CONFIG_AGE_MS)).restore?.at;
  if (at === undefined) return undefined;
  if (mayHaveActed(state, at)) return at;
  const seen = new Set([state.id]);
  const open = ancestorsOf(state);
  for (let id = open.shift(); id !== undefined; id = open.shift()) {
    if (seen.has(id)) continue;
    // An ancestor that cannot be found leaves the run in doubt.
    if (seen.size >= MAX_ANCESTORS) return at;
    seen.add(id);
    const loaded = await store.load(id);
    if (!loaded || mayHaveActed(loaded.state, at)) return at;
    open.push(...ancestorsOf(loaded.state));
  }
  return undefined;
}

function ancestorsOf({ rootRunId, parent }: RunState): string[] {
  return parent === undefined ? [rootRunId] : [rootRunId, parent.runId];
}
