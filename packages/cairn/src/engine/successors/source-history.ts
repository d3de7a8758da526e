/**
 * Reads the journal of a successor's source, page by page. Completed executions are kept without
 * outputs, so that the memory is bounded by the number of steps.
 *
 * Must not: decide what is reused (core/decisions/successor.ts).
 */

import type { RecordedStep, SourceHistory } from '../../core/decisions/successor.ts';
import type { RunEvent, SettledType, StepSettled } from '../../core/run/events.ts';
import { initialState, reduce } from '../../core/run/reduce/index.ts';
import { type RunState, stepKey } from '../../core/run/state.ts';
import type { RunStore } from '../../ports/run-store.ts';

/** Events of a page: about half a megabyte. */
const PAGE = 500;

/** Starting point of a successor: the end of its source, one of its checkpoints by sequence number, or its start. */
export type SuccessorPoint = 'end' | 'start' | { readonly checkpoint: number };

/** @param end the source as it ended */
export async function readSource(
  store: RunStore,
  end: RunState,
  point: SuccessorPoint,
): Promise<SourceHistory> {
  if (point === 'start') return { end, asOf: undefined, recorded: new Map() };
  const until = point === 'end' ? end.head : point.checkpoint;
  const recorded = new Map<number, RecordedStep>();
  /** Sequence number of the newest execution, by the key of the step. */
  const newest = new Map<string, number>();
  let folded: RunState | undefined;
  for (let after = 0; after < until; ) {
    const page = await store.readEvents(end.id, after, Math.min(PAGE, until - after));
    const last = page.at(-1);
    if (!last) throw new Error(`run ${end.id}: its journal ends at ${after}, before ${until}`);
    after = last.seq;
    for (const event of page) {
      // The state at the end is known; the state at any other point is found by folding.
      if (point !== 'end') folded = next(end.id, folded, event);
      const of = recordedBy(end.id, event);
      if (!of) continue;
      const key = stepKey(of.data);
      recorded.delete(newest.get(key) ?? 0);
      newest.set(key, of.seq);
      recorded.set(of.seq, of);
    }
  }
  return { end, asOf: folded ?? end, recorded };
}

function next(runId: string, state: RunState | undefined, event: RunEvent): RunState {
  if (state) return reduce(state, event);
  if (event.type !== 'run_created') throw new Error(`run ${runId} does not begin with its creation`);
  return initialState(runId, event);
}

function recordedBy(runId: string, event: RunEvent): RecordedStep | undefined {
  const { seq } = event;
  const from = { runId, checkpoint: seq };
  switch (event.type) {
    case 'step_succeeded':
    case 'step_degraded':
      return { seq, data: settledOf(event), skipped: false, from };
    case 'step_skipped':
      return { seq, data: settledOf(event), skipped: true, from };
    case 'step_reused':
      return { seq, data: settledOf(event), skipped: event.data.skipped === true, from: event.data.from };
    default:
      return undefined;
  }
}

/** The reused result. Its tokens were used once and do not count again. */
function settledOf({ data }: RunEvent<SettledType>): StepSettled {
  const { stepId, itemKey, revision, kind, attempt, inputsHash, startedAt } = data;
  const { outputHash, outputsSummary, resumable, idempotent, agent, durationMs, request } = data;
  return {
    stepId,
    itemKey,
    revision,
    kind,
    attempt,
    inputsHash,
    request,
    startedAt,
    outputHash,
    outputsSummary,
    resumable,
    idempotent,
    agent,
    durationMs,
  };
}
