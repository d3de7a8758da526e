/**
 * Commit of a repair: the event that records it, the snapshot after it and the corrected documents, fenced by the next sequence
 * number like every append (J1). Separate from `run-journal.ts`, because it must also append to a run whose document is missing
 * or unreadable.
 *
 * Must not: decide the repair.
 */
import { seqId } from '../core/encoding/ids.ts';
import { seal } from '../core/run/chain.ts';
import type { EventData, EventDraft } from '../core/run/events.ts';
import { reduce } from '../core/run/reduce/index.ts';
import type { RunState } from '../core/run/state.ts';
import type { Version } from '../ports/run-store.ts';
import type { IntegrityReader, RepairCommit, RepairStore } from '../ports/runs/integrity-store.ts';
import { type SendDeps, sendUntilKnown } from './send-until-known.ts';

export interface AppendRepairDeps extends SendDeps {
  readonly reader: IntegrityReader;
  readonly repairs: RepairStore;
}

interface RepairAppend extends Pick<RepairCommit, 'steps' | 'checkpoints'> {
  /** State folded from the journal. */
  readonly state: RunState;
  readonly snapshot: Omit<RepairCommit['snapshot'], 'state'>;
  readonly data: EventData['snapshot_repaired'];
  /** Requester. */
  readonly actor: string;
}

type RepairAppended =
  /** `snapshotVersion` is not known if the answer to the commit was lost. */
  | { readonly kind: 'repaired'; readonly state: RunState; readonly snapshotVersion: Version | undefined }
  /** The run has changed, or was repaired concurrently: nothing was written. */
  | { readonly kind: 'stale' };

/** @throws CairnError UNAVAILABLE if the store does not answer: the same repair may then be requested again */
export async function appendRepair(deps: AppendRepairDeps, repair: RepairAppend): Promise<RepairAppended> {
  const { state, snapshot, data, actor, steps, checkpoints } = repair;
  const draft: EventDraft = { type: 'snapshot_repaired', initiator: 'user', actor, data };
  const event = seal(draft, { chain: state, id: deps.random.token(), now: deps.clock.now() });
  const after = reduce(state, event);
  const commit: RepairCommit = {
    runId: state.id,
    event,
    snapshot: { ...snapshot, state: after },
    steps,
    checkpoints,
  };
  const result = await sendUntilKnown(deps, () => deps.repairs.repair(commit));
  if (result.kind === 'repaired') {
    return { kind: 'repaired', state: after, snapshotVersion: result.snapshotVersion };
  }
  // The event may be our own, from an attempt whose answer was lost (J8).
  const [stored] = await sendUntilKnown(deps, () =>
    deps.reader.atOneMoment(state.id, (reader) => reader.events({ after: seqId(state.head), limit: 1 })),
  );
  const isOurs = stored?.kind === 'sound' && stored.value.id === event.id;
  return isOurs ? { kind: 'repaired', state: after, snapshotVersion: undefined } : result;
}
