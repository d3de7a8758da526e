/**
 * `repair`: corrects the documents beside the journal to match it. A dry run by default. Each commit contains the event that
 * records it, so that after a crash the completed part is recorded. A repetition continues with the rest; once nothing is left
 * it changes nothing.
 *
 * Must not: change the journal except for that event, or anything that the check did not report.
 */
import { CairnError } from '../../core/errors.ts';
import { checkRun } from '../../core/integrity/check-run.ts';
import type { RunAsFound } from '../../core/integrity/found.ts';
import {
  isEmpty,
  type PlaceChange,
  planRepair,
  type RepairChange,
  type RepairPlan,
} from '../../core/integrity/plan.ts';
import type { BufferedEvent } from '../../core/mailbox/mailbox.ts';
import { hasReceived, type RunState } from '../../core/run/state.ts';
import { workflowOf } from '../../engine/definition-of-run.ts';
import type { DeliverDeps } from '../../engine/mailbox/deliver.ts';
import { eventOutput } from '../../engine/mailbox/event-answers.ts';
import { joinMailbox } from '../../engine/mailbox/join.ts';
import { leaveMailbox } from '../../engine/mailbox/leave.ts';
import { offerTo } from '../../engine/mailbox/offer.ts';
import { type AppendRepairDeps, appendRepair } from '../../journal/append-repair.ts';
import type { Log } from '../../ports/log.ts';
import type { RunOfTenant } from '../append-to-run.ts';
import { batchesOf, repairedDataOf } from './batches.ts';
import { readOwnDocuments } from './check.ts';
import type { ReadDocumentsDeps } from './read-documents.ts';

export interface RepairDeps extends ReadDocumentsDeps, AppendRepairDeps, DeliverDeps {
  readonly log: Log;
}

interface RepairRequest extends RunOfTenant {
  readonly actor: string;
  /** False: a dry run, which only returns the changes. */
  readonly apply: boolean;
}

/** The changes are planned or applied. */
export interface RepairReport extends RepairPlan {
  /** `sound`: there is no problem. `refused`: there are problems, and none can be repaired. */
  readonly outcome: 'sound' | 'refused' | 'planned' | 'applied';
  /** Sequence numbers of the `snapshot_repaired` events. */
  readonly events: readonly number[];
}

/** Number of restarts, because of concurrent changes of the run, after which a repair gives up. */
const MAX_ROUNDS = 5;

/** @throws CairnError RUN_NOT_FOUND, UNAVAILABLE (ask for the same again), PAYLOAD_TOO_LARGE */
export async function repairRun(deps: RepairDeps, request: RepairRequest): Promise<RepairReport> {
  const done: RepairsDone = { changes: [], places: [], events: [] };
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const { run } = await readOwnDocuments(deps, request);
    const plan = planRepair(run, checkRun(run));
    const { refused } = plan;
    if (!request.apply && !isEmpty(plan)) return { outcome: 'planned', ...plan, events: [] };
    // The run is read again after each change. Here nothing is left that can be repaired.
    if (isEmpty(plan)) {
      const outcome = done.events.length > 0 ? 'applied' : refused.length > 0 ? 'refused' : 'sound';
      return { outcome, ...done, refused };
    }
    await carryOut(deps, { actor: request.actor, run, plan, done });
  }
  throw new CairnError('UNAVAILABLE', 'the run changes too often to be repaired now');
}

interface RepairsDone {
  readonly changes: RepairChange[];
  readonly places: PlaceChange[];
  readonly events: number[];
}

interface RepairWork {
  readonly actor: string;
  readonly run: RunAsFound;
  readonly plan: RepairPlan;
  readonly done: RepairsDone;
}

/** Applies as much of the plan as possible before the run changes. */
async function carryOut(deps: RepairDeps, { actor, run, plan, done }: RepairWork): Promise<void> {
  let { state } = run.journal;
  if (!state) throw new Error('a plan for a run without a journal');
  const { version, metadata = {}, metadataDamage = [] } = run.snapshot ?? {};
  let seen = version;
  for await (const batch of batchesOf(deps, run, plan)) {
    if (batch === 'stale') return;
    const { steps, checkpoints, changes, places } = batch;
    const data = repairedDataOf(batch);
    const snapshot = { seen, metadata, isMetadataDamaged: metadataDamage.length > 0 };
    const appended = await appendRepair(deps, { state, snapshot, steps, checkpoints, data, actor });
    if (appended.kind === 'stale') return;
    state = appended.state;
    done.changes.push(...changes);
    done.events.push(state.head);
    const documents = changes.length + places.length;
    deps.log.warn('run_repaired', { runId: state.id, seq: state.head, documents, codes: data.problems });
    // The event is appended first, so that the journal records the repair even if this process dies now. A repetition does not change
    // correct entries.
    for (const place of places) await repairMailboxEntry(deps, state, place);
    done.places.push(...places);
    if (appended.snapshotVersion === undefined) return;
    seen = appended.snapshotVersion;
  }
}

/**
 * Corrects the event mailbox entry of a run. Several runs share the mailbox, so entries are added and removed by its rules, as runs
 * do it, and never overwritten. Idempotent.
 *
 * @throws CairnError RATE_LIMITED if too many runs wait there; OutcomeUnknown
 */
async function repairMailboxEntry(deps: DeliverDeps, state: RunState, place: PlaceChange): Promise<void> {
  const { event, key, waitId } = place;
  const { id: runId, tenantId } = state;
  const wait = state.waits.find(({ id }) => id === waitId);
  const at = { tenantId, event, key, runId, waitId };
  if (place.kind === 'leave' || !wait) {
    return leaveMailbox(deps, at, (eventId) => hasReceived(state, eventId));
  }
  const step = workflowOf(deps.registry, state)?.steps.get(wait.execution.stepId);
  // A step that is not deployed accepts nothing yet. Its wait is listed and asked again when an event is sent.
  const accepts = ({ eventId, dataText }: BufferedEvent) =>
    step !== undefined && !hasReceived(state, eventId) && 'text' in eventOutput(step, dataText);
  const early = await joinMailbox(deps, { ...at, accepts });
  if (!early) return undefined;
  const { eventId: id, dataText, actor } = early;
  const delivered = { id, dataText, actor, initiator: actor === undefined ? 'system' : 'user' } as const;
  const { isDelivered } = await offerTo(deps, runId, { tenantId, event, key, data: delivered });
  return leaveMailbox(deps, at, (eventId) => isDelivered && eventId === id);
}
