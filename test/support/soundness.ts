/** Invariants of every stored run; shared by all tests with faults. */
import { isInDoubt } from '../../packages/cairn/src/core/effects/effect.ts';
import { verifyChain } from '../../packages/cairn/src/core/run/chain.ts';
import type { EventType, RunEvent, StepRef } from '../../packages/cairn/src/core/run/events.ts';
import { askingSince, endedInDoubt } from '../../packages/cairn/src/core/run/open-questions.ts';
import { fold, initialState, reduce } from '../../packages/cairn/src/core/run/reduce/index.ts';
import { isOver, type RunState, stepKey } from '../../packages/cairn/src/core/run/state.ts';
import { wakeAt } from '../../packages/cairn/src/core/run/wake.ts';
import type { MemoryDatabase, RunDocuments } from '../../packages/cairn/src/memory/memory-database.ts';

/** Events that only the holder of the lease may append, with the exception in `answeredBy`. */
const HOLDERS_ONLY: ReadonlySet<EventType> = new Set<EventType>([
  'run_claimed',
  'run_started',
  'step_started',
  'step_succeeded',
  'step_skipped',
  'step_failed',
  'step_reused',
  'replay_started',
  'replay_finished',
  'step_retry_scheduled',
  'run_released',
  'run_completed',
]);
/** May follow the end of a run (J6). */
const AFTER_THE_END: ReadonlySet<EventType> = new Set<EventType>(['run_superseded', 'snapshot_repaired']);

/** Throws unless the journal is complete (J1, J6) and only the holder of the lease acted (J3). */
function assertJournal(runId: string, events: readonly RunEvent[]): RunState {
  const broken = verifyChain(runId, events);
  if (broken) throw new Error(`event ${broken.seq}: ${broken.problem}`);
  const [first, ...rest] = events;
  if (first?.type !== 'run_created') throw new Error('the journal does not begin with run_created');
  let state = initialState(runId, first as RunEvent<'run_created'>);
  let answered: string | undefined;
  for (const event of rest) {
    if (isOver(state) && !AFTER_THE_END.has(event.type))
      throw new Error(`'${event.type}' after the end (J6)`);
    const before = state;
    state = reduce(state, event);
    if (event.writer || answered === undefined || answered !== stepOf(event)) {
      assertWriter(event, event.type === 'run_claimed' ? state : before);
    }
    answered = answeredBy(event, before);
  }
  return state;
}

/** The step whose wait an external event has ended; the same writer may then append the outcome of the step. */
function answeredBy({ type, data, writer }: RunEvent, { waits }: RunState): string | undefined {
  if (writer || (type !== 'wait_resolved' && type !== 'wait_expired')) return undefined;
  const wait = waits.find(({ id }) => id === data.waitId);
  return wait && stepKey(wait.execution);
}

function stepOf({ type, data }: RunEvent): string | undefined {
  return type.startsWith('step_') && 'stepId' in data ? stepKey(data as StepRef) : undefined;
}

function assertWriter({ seq, type, writer }: RunEvent, { lease }: RunState): void {
  if (!writer) {
    // A process that finds a run without a lease may end it; without the lease it may only request it.
    if (HOLDERS_ONLY.has(type) || (type === 'run_cancelled' && lease))
      throw new Error(`event ${seq}: '${type}' by somebody without a lease (J3)`);
    return;
  }
  if (writer.owner !== lease?.owner || writer.epoch !== lease.epoch) {
    throw new Error(`event ${seq}: '${type}' by epoch ${writer.epoch}, which does not hold the lease (J3)`);
  }
}

/**
 * Throws unless the snapshot is the fold of the journal up to its head (J5), does not lag without a lease (J4), is woken in time (J10),
 * and is in the inbox if it waits for a person. `movedTo` is the last `wakeAt` that the scan set, which it does before it acts.
 */
export function assertSnapshot(
  run: RunDocuments,
  movedTo = 0,
  ledger: MemoryDatabase['effects'] = new Map(),
): void {
  const { snapshot, events, metadata } = run;
  const expected = events[snapshot.head - 1]?.hash;
  if (snapshot.headHash !== expected) throw new Error('the snapshot is not of this journal (J5)');
  const state = fold(snapshot.id, events.slice(snapshot.head), snapshot);
  for (const what of ['status', 'waits', 'epoch'] as const) {
    if (state[what] !== snapshot[what]) throw new Error(`the snapshot lags in its ${what} (J4)`);
  }
  if (!snapshot.lease && state !== snapshot) throw new Error('the snapshot of an unleased run lags (J4)');
  const implied = wakeAt(state, metadata);
  if (implied !== undefined && (run.wakeAt ?? Number.POSITIVE_INFINITY) > Math.max(implied, movedTo)) {
    throw new Error(`wakeAt is ${run.wakeAt}, later than ${implied} (J10)`);
  }
  const since = askingSince(snapshot);
  const isLetGo = run.askingSince === undefined && endedInDoubt(snapshot) && isAllKnown(snapshot, ledger);
  if (run.askingSince !== since && !isLetGo)
    throw new Error(`askingSince is ${run.askingSince}, not ${since}`);
}

function isAllKnown({ effects }: RunState, ledger: MemoryDatabase['effects']): boolean {
  return effects.every(({ effectId }) => {
    const row = ledger.get(effectId)?.record;
    return row !== undefined && !isInDoubt(row);
  });
}

/** Both checks, with a strict J5: the values are equal. */
export function assertStored(db: MemoryDatabase, runId: string, movedTo = 0): RunState {
  const run = db.runs.get(runId);
  if (!run) throw new Error(`run ${runId} does not exist`);
  const state = assertJournal(runId, run.events);
  assertSnapshot(run, movedTo, db.effects);
  const refolded = fold(runId, run.events.slice(0, run.snapshot.head));
  if (text(refolded) !== text(run.snapshot))
    throw new Error('the snapshot is not the fold of its events (J5)');
  return state;
}

function text(state: RunState): string {
  const entries = Object.entries(state).sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify(
    entries.map(([name, value]) => [name, name === 'steps' ? state.steps.sortBy((_, k) => k) : value]),
  );
}
