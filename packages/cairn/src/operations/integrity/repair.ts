/**
 * `repair`: makes the documents beside the journal match it. A dry run by default; each commit contains the event that
 * records it, so that after a crash the finished part is recorded; a repetition continues with the rest, and then
 * changes nothing.
 *
 * Must not: touch the journal except for that event, or change anything that the check did not report.
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

export interface RepairDeps extends ReadDocumentsDeps, AppendRepairDeps, PlaceDeps {
  readonly log: Log;
}

interface RepairRequest extends RunOfTenant {
  readonly actor: string;
  /** False: a dry run, which returns the changes. */
  readonly apply: boolean;
}

/** The changes are planned or applied. */
export interface RepairReport extends RepairPlan {
  /** `sound`: there is no problem. `refused`: there are problems, and none can be repaired. */
  readonly outcome: 'sound' | 'refused' | 'planned' | 'applied';
  /** Sequence numbers of the `snapshot_repaired` events. */
  readonly events: readonly number[];
}

/** Times a repair restarts because the run changes concurrently, before it gives up. */
const MAX_ROUNDS = 5;

/** @throws CairnError RUN_NOT_FOUND, UNAVAILABLE (ask for the same again), PAYLOAD_TOO_LARGE */
export async function repairRun(deps: RepairDeps, request: RepairRequest): Promise<RepairReport> {
  const done: RepairsDone = { changes: [], places: [], events: [] };
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const { run } = await readOwnDocuments(deps, request);
    const plan = planRepair(run, checkRun(run));
    const { refused } = plan;
    if (!request.apply && !isEmpty(plan)) return { outcome: 'planned', ...plan, events: [] };
    // The run was read again after each change. Nothing that can be changed is left.
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

/** Does as much of the plan as can be done before the run moves. */
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
    // The event is appended first: if this process dies now, the journal already records the repair. A repetition leaves correct
    // entries alone.
    for (const place of places) await repairMailboxEntry(deps, state, place);
    done.places.push(...places);
    if (appended.snapshotVersion === undefined) return;
    seen = appended.snapshotVersion;
  }
}

type PlaceDeps = DeliverDeps;

/**
 * Corrects the event mailbox entry of a run by the rules of the mailbox: it is shared by several runs, so entries are
 * added and removed as runs do it, never overwritten. Idempotent.
 *
 * @throws CairnError RATE_LIMITED if too many wait there; OutcomeUnknown
 */
async function repairMailboxEntry(deps: PlaceDeps, state: RunState, place: PlaceChange): Promise<void> {
  const { event, key, waitId } = place;
  const { id: runId, tenantId } = state;
  const wait = state.waits.find(({ id }) => id === waitId);
  const at = { tenantId, event, key, runId, waitId };
  if (place.kind === 'leave' || !wait) {
    return leaveMailbox(deps, at, (eventId) => hasReceived(state, eventId));
  }
  const step = workflowOf(deps.registry, state)?.steps.get(wait.execution.stepId);
  // A step that is not deployed takes nothing yet: it is listed, and asked again when an event is sent.
  const accepts = ({ eventId, dataText }: BufferedEvent) =>
    step !== undefined && !hasReceived(state, eventId) && 'text' in eventOutput(step, dataText);
  const early = await joinMailbox(deps, { ...at, accepts });
  if (!early) return undefined;
  const { eventId: id, dataText, actor } = early;
  const delivered = { id, dataText, actor, initiator: actor === undefined ? 'system' : 'user' } as const;
  const { isDelivered } = await offerTo(deps, runId, { tenantId, event, key, data: delivered });
  return leaveMailbox(deps, at, (eventId) => isDelivered && eventId === id);
}
