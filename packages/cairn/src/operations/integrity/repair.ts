/**
 * `repair`: makes the documents beside the journal match it. A dry run by default; each commit contains the event that
 * records it, so that after a crash the finished part is recorded; a repetition continues with the rest, and then
 * changes nothing.
 *
 * Must not: touch the journal except for that event, or change anything that the check did not report.
 */

import { CairnError } from '../../core/errors.ts';
import { checkRun } from '../../core/integrity/check-run.ts';
import type { RunFacts } from '../../core/integrity/facts.ts';
import {
  isEmpty,
  type PlaceChange,
  planRepair,
  type RepairChange,
  type RepairPlan,
} from '../../core/integrity/plan.ts';
import type { Problem } from '../../core/integrity/problems.ts';
import { type AppendRepairDeps, appendRepair } from '../../journal/append-repair.ts';
import type { Log } from '../../ports/log.ts';
import { batchesOf, type RepairBatch, toldOf } from './batches.ts';
import { readOwnFacts, type WhichRun } from './check.ts';
import { type PlaceDeps, putPlaceRight } from './places.ts';
import type { ReadFactsDeps } from './read-facts.ts';

export interface RepairDeps extends ReadFactsDeps, AppendRepairDeps, PlaceDeps {
  readonly log: Log;
}

export interface RepairRequest extends WhichRun {
  readonly actor: string;
  /** False: only says what would be changed. */
  readonly apply: boolean;
}

export interface RepairReport {
  /** `sound`: nothing is wrong. `refused`: something is, and none of it can be repaired. */
  readonly outcome: 'sound' | 'refused' | 'planned' | 'applied';
  /** Planned or applied changes. */
  readonly changes: readonly RepairChange[];
  readonly places: readonly PlaceChange[];
  /** Problems that need an operator. */
  readonly refused: readonly Problem[];
  /** Sequence numbers of the events that tell of it. */
  readonly events: readonly number[];
}

/** Times a repair restarts because the run changes concurrently, before it gives up. */
const MAX_ROUNDS = 5;

/** @throws CairnError RUN_NOT_FOUND, UNAVAILABLE (ask for the same again), PAYLOAD_TOO_LARGE */
export async function repairRun(deps: RepairDeps, request: RepairRequest): Promise<RepairReport> {
  const changes: RepairChange[] = [];
  const places: PlaceChange[] = [];
  const events: number[] = [];
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const { facts } = await readOwnFacts(deps, request);
    const plan = planRepair(facts, checkRun(facts));
    if (!request.apply || isEmpty(plan)) return report(request, plan, { changes, places, events });
    const done = await carryOut(deps, request, { facts, plan });
    changes.push(...done.changes);
    places.push(...done.places);
    events.push(...done.events);
  }
  throw new CairnError('UNAVAILABLE', 'the run changes too often to be repaired now');
}

type Done = Pick<RepairReport, 'changes' | 'places' | 'events'>;

/** After what was done the run was read again, and this is what is left: nothing that could be changed. */
function report({ apply }: RepairRequest, { refused, ...wanted }: RepairPlan, done: Done): RepairReport {
  if (!apply) {
    const outcome = isEmpty({ ...wanted, refused }) ? (refused.length > 0 ? 'refused' : 'sound') : 'planned';
    return { outcome, ...wanted, refused, events: [] };
  }
  const outcome = done.events.length > 0 ? 'applied' : refused.length > 0 ? 'refused' : 'sound';
  return { outcome, ...done, refused };
}

interface Work {
  readonly facts: RunFacts;
  readonly plan: RepairPlan;
}

/** As much of the plan as could be done before the run moved. */
async function carryOut(deps: RepairDeps, request: RepairRequest, { facts, plan }: Work): Promise<Done> {
  const { snapshot, journal } = facts;
  const { actor } = request;
  const done = { changes: [] as RepairChange[], places: [] as PlaceChange[], events: [] as number[] };
  let state = journal.state;
  let seen = snapshot?.version;
  if (!state) throw new Error('a plan for a run without a journal');
  const soft = snapshot?.soft ?? {};
  const isSoftDamaged = (snapshot?.softDamage.length ?? 0) > 0;
  for await (const batch of batchesOf(deps, facts, plan)) {
    if (batch === 'stale') return done;
    const appended = await appendRepair(deps, {
      ...writesOf(batch),
      state,
      snapshot: { seen, soft, isSoftDamaged },
      told: toldOf(batch),
      actor,
    });
    if (appended.kind === 'stale') return done;
    state = appended.state;
    done.changes.push(...batch.changes);
    done.events.push(state.head);
    const documents = batch.changes.length + batch.places.length;
    deps.log.warn('run_repaired', { runId: state.id, seq: state.head, documents, ...codesOf(batch) });
    // Whoever is about to die has told of what he was about to do; asked again, a place that is right is left alone.
    for (const place of batch.places) await putPlaceRight(deps, state, place);
    done.places.push(...batch.places);
    if (appended.snapshotVersion === undefined) return done;
    seen = appended.snapshotVersion;
  }
  return done;
}

function writesOf({ steps, checkpoints }: RepairBatch): Pick<RepairBatch, 'steps' | 'checkpoints'> {
  return { steps, checkpoints };
}

function codesOf(batch: RepairBatch): { readonly codes: readonly string[] } {
  return { codes: toldOf(batch).problems ?? [] };
}
