/**
 * First work of a successor: reuses, by reference, the results of its source that are still valid. In chunks of one commit
 * each; after a crash the next dispatch continues with the rest, which the folded state knows.
 *
 * Must not: decide what is reused (core/decisions/successor.ts), or run a step.
 */
import { ATTENDED, endingDecision } from '../../core/decisions/ending.ts';
import type { Reuse, SuccessorPlan } from '../../core/decisions/successor.ts';
import { grouped } from '../../core/run/bounded.ts';
import { signalsToCarry } from '../../core/run/data/unread-signals.ts';
import type { EventDraft, RecordedError, SuccessorSource } from '../../core/run/events.ts';
import type { RunState, UnreadSignal } from '../../core/run/state.ts';
import { LeaseLost } from '../../journal/run-journal.ts';
import { ofRun } from '../../ports/log.ts';
import { runCancelled, runFailed } from '../recording/terminal.ts';
import { runInput } from '../run-input.ts';
import { reusePlan } from '../successors/plan.ts';
import type { LeasedRun } from './dispatch-state.ts';
import { keepHeartbeats } from './heartbeats.ts';

/**
 * Steps of one chunk. Each takes three writes, so that a chunk with its first and last event stays below the 300 writes of a
 * commit.
 */
const CHUNK = 90;

type Importing = Pick<LeasedRun, 'deps' | 'journal' | 'workflow' | 'budgetEndsAt'>;

/**
 * `done`: the run continues, possibly only to its end after a cancel. `released`: another dispatch continues with the rest.
 * `closed`: the outputs to reuse are missing.
 */
export type Imported = 'done' | 'released' | 'closed' | 'lease_lost';

/** Call for a run that `isImporting`, and whose lease is held. @throws errors of the store */
export async function importRecorded(params: Importing): Promise<Imported> {
  const { deps, journal } = params;
  let broken: unknown;
  const endHeartbeats = keepHeartbeats(deps, journal, {
    // A commit detects events of others itself.
    busy: () => false,
    showAt: () => Number.POSITIVE_INFINITY,
    onRefreshed: () => {},
    onFailure: (error) => {
      broken = error;
    },
  });
  try {
    return await takeOver(params);
  } catch (error) {
    if (error instanceof LeaseLost || broken instanceof LeaseLost) return 'lease_lost';
    throw error;
  } finally {
    endHeartbeats();
  }
}

async function takeOver(params: Importing): Promise<Imported> {
  const { deps, journal, workflow } = params;
  const { state } = journal;
  const { source } = state;
  if (!source) throw new Error(`run ${state.id} is not a successor`);
  const end = (await deps.store.load(source.runId))?.state;
  if (!end) {
    await journal.append((current) => [endOf(current, sourceGone(source))]);
    return 'closed';
  }
  const input = () => runInput(deps.store, state);
  const { type, planVersion, inputHash } = state;
  const successor = { type, planVersion, inputHash, source, input };
  const plan = await reusePlan(deps.store, successor, { end, workflow });
  deps.log.info('replay_planned', { ...ofRun(state), source: source.runId, reused: plan.reused.length });
  if (source.signals === 'carry' && !(await carry(params, end.unread))) return 'lease_lost';
  return append(params, { source, plan });
}

/**
 * In its own commit, because a full signal buffer and a full chunk of steps exceed one commit together. If the dispatch dies after
 * it, the next one finds the signals received. False: the lease is lost.
 */
async function carry({ deps, journal }: Importing, unread: RunState['unread']): Promise<boolean> {
  const owner = journal.state.lease?.owner;
  const { state, events } = await journal.append((current): EventDraft[] => {
    if (current.lease?.owner !== owner || current.cancellation) return [];
    return signalsToCarry(current, unread).map(carried);
  });
  deps.log.info('signals_carried', { ...ofRun(state), unread: unread.length, carried: events.length });
  return state.lease?.owner === owner;
}

async function append(
  { deps, journal, budgetEndsAt }: Importing,
  { source, plan }: { readonly source: SuccessorSource; readonly plan: SuccessorPlan },
): Promise<Imported> {
  const owner = journal.state.lease?.owner;
  const left = plan.reused.filter((reuse) => !isTaken(journal.state, reuse));
  for (let from = 0; ; from += CHUNK) {
    const chunk = left.slice(from, from + CHUNK);
    const isLast = from + CHUNK >= left.length;
    const releaseReason = deps.shutdown.aborted
      ? 'shutdown'
      : deps.clock.now() >= budgetEndsAt
        ? 'budget'
        : undefined;
    const { state } = await journal.append((current): EventDraft[] => {
      if (current.lease?.owner !== owner || current.cancellation) return [];
      if (releaseReason) {
        return [{ type: 'run_released', initiator: 'system', data: { reason: releaseReason, inFlight: [] } }];
      }
      const fresh = chunk.filter((reuse) => !isTaken(current, reuse));
      return [
        ...(current.status === 'replaying' ? [] : begun(source, plan)),
        ...fresh.map(reused),
        ...(isLast ? finished(current) : []),
      ];
    });
    if (state.lease?.owner !== owner) return releaseReason ? 'released' : 'lease_lost';
    if (isLast || state.cancellation) return 'done';
  }
}

/** True if an earlier dispatch already reused it. */
function isTaken({ steps }: RunState, { key }: Reuse): boolean {
  return steps.get(key)?.phase === 'done';
}

/** One event, or several if one cannot name all revisions, feedback and marks. */
function begun(
  { mode, runId: from }: SuccessorSource,
  { revisions, feedback, marks }: SuccessorPlan,
): EventDraft[] {
  const raised = Object.entries(revisions).map(([id, revision]) => ({ id, revision }));
  const imported = feedback.flatMap(({ steps, text }) =>
    grouped(steps, sizeOf).map((some) => ({ steps: some, text })),
  );
  const marked = Object.entries(marks).map(([stepId, mark]) => ({ stepId, mark }));
  const groups = grouped([...raised, ...imported, ...marked], sizeOf);
  return (groups.length === 0 ? [[]] : groups).map((group, i) => {
    const some = group.flatMap((one) => ('id' in one ? [[one.id, one.revision] as const] : []));
    const words = group.filter((one) => 'text' in one);
    const lists = group.flatMap((one) => ('mark' in one ? [[one.stepId, one.mark] as const] : []));
    return {
      type: 'replay_started',
      initiator: 'system',
      data: {
        mode,
        from,
        ...(some.length === 0 ? {} : { revisions: Object.fromEntries(some) }),
        ...(words.length === 0 ? {} : { feedback: words }),
        ...(lists.length === 0 ? {} : { marks: Object.fromEntries(lists) }),
        ...(i === 0 ? {} : { more: true }),
      },
    };
  });
}

function reused({ data, from, skipped }: Reuse): EventDraft {
  return {
    type: 'step_reused',
    initiator: 'system',
    data: { ...data, from, ...(skipped ? { skipped } : {}) },
  };
}

function finished({ resumedFrom }: RunState): EventDraft[] {
  const done: EventDraft = { type: 'replay_finished', initiator: 'system', data: {} };
  if (resumedFrom === undefined) return [done];
  return [done, { type: 'run_resumed', initiator: 'system', data: { reason: `continues ${resumedFrom}` } }];
}

/** The signal keeps its id, so that a repetition by its sender is recognized in this run as well. */
function carried({ signalId, name, key, payloadText }: UnreadSignal): EventDraft {
  const data = { signalId, name, key, payloadText };
  return { type: 'signal_received', initiator: 'system', data };
}

/** No step has run yet, so nothing needs compensation; but the run may have been cancelled. */
function endOf(state: RunState, failure: RecordedError): EventDraft {
  const ending = endingDecision({ ...ATTENDED, cancellation: state.cancellation, failure });
  return ending.kind === 'cancelled' ? runCancelled(state, ending.cancellation, []) : runFailed(failure);
}

function sourceGone({ runId, mode }: SuccessorSource) {
  const message = `run ${runId}, the source of this ${mode}, no longer exists`;
  return { code: 'RUN_RESUME_FAILED', message, retryable: false };
}

/** Bytes of its JSON. */
function sizeOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value)) + 1;
}
