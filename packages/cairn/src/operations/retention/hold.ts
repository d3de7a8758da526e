/** Legal hold: a person forbids the deletion of a run, which also keeps its lineage and their children. */
import type { LegalHold } from '../../core/retention/lineage.ts';
import { changeVersioned, OVERTAKEN } from '../../journal/change-versioned.ts';
import type { JournalDeps } from '../../journal/run-journal.ts';
import { sendUntilKnown } from '../../journal/send-until-known.ts';
import type { Log } from '../../ports/log.ts';
import type { RetentionStore } from '../../ports/runs/retention-store.ts';
import { loadOwn, type RunOfTenant } from '../append-to-run.ts';

interface HoldDeps extends JournalDeps {
  readonly log: Log;
  readonly retention: RetentionStore;
}

interface HoldRequest extends RunOfTenant {
  readonly actor: string;
}

/**
 * The first hold counts, with its actor and reason.
 *
 * @throws CairnError RUN_NOT_FOUND, also for a run that is about to be deleted; UNAVAILABLE (send the same again)
 */
export async function holdRun(deps: HoldDeps, run: HoldRequest, reason: string): Promise<LegalHold> {
  const hold: LegalHold = { by: run.actor, at: deps.clock.now(), reason };
  const held = await changeHold(deps, run, (current) => (current === undefined ? { hold } : undefined));
  if (!held) throw new Error(`run ${run.runId} has inconsistent hold data`);
  return held;
}

/** @throws CairnError RUN_NOT_FOUND, UNAVAILABLE (send the same again) */
export async function releaseRun(deps: HoldDeps, run: HoldRequest): Promise<void> {
  await changeHold(deps, run, (current) => (current === undefined ? undefined : { hold: undefined }));
}

/** Returns the hold after the operation. */
async function changeHold(
  deps: HoldDeps,
  { runId, tenantId, actor }: HoldRequest,
  change: (current: LegalHold | undefined) => { readonly hold: LegalHold | undefined } | undefined,
): Promise<LegalHold | undefined> {
  return changeVersioned('writes to the run', async () => {
    const { metadata, snapshotVersion: seen } = await loadOwn(deps, { runId, tenantId });
    const wanted = change(metadata.legalHold);
    if (!wanted) return metadata.legalHold;
    const { kind } = await sendUntilKnown(deps, () => deps.retention.hold(runId, seen, wanted.hold));
    if (kind === 'stale') return OVERTAKEN;
    const what = wanted.hold ? 'legal_hold_set' : 'legal_hold_released';
    deps.log.warn(what, { runId, tenantId, by: actor });
    return wanted.hold;
  });
}
