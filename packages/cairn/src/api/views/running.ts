/**
 * Running bodies, as callers see them: separately, and merged into the steps from documents and fold. Most bodies have no
 * document and no event before they end.
 */
import { encodeKey } from '../../core/encoding/idempotency-keys.ts';
import { type RunningStep, runningNow } from '../../core/run/now/running.ts';
import type { StepRecord } from '../../core/run/records.ts';
import { type RunState, type StepState, stepIdOf } from '../../core/run/state.ts';
import { decodeCursor, encodeCursor } from '../../core/search/cursor.ts';
import type { LoadedRun, Page, PageRequest } from '../../ports/run-store.ts';

type RunningRun = Pick<LoadedRun, 'state' | 'metadata'>;

/** A step without any record has no `inputsHash`. */
export type ShownStep = Omit<StepRecord, 'inputsHash'> & Partial<Pick<StepRecord, 'inputsHash'>>;

/** A page of the steps of a run, with the running steps that have no document yet inserted in order. */
export function withRunning(page: Page<StepRecord>, call: PageRequest, run: RunningRun): Page<ShownStep> {
  const attempts = bodiesOf(run);
  if (attempts.length === 0) return page;
  const after = call.cursor === undefined ? '' : decodeCursor('steps', call.cursor)[1];
  const last = page.next === undefined ? undefined : encodeKey(page.items.at(-1)?.id ?? '');
  const steps = new Map<string, ShownStep>(page.items.map((step) => [encodeKey(step.id), step]));
  for (const attempt of attempts) {
    const at = encodeKey(attempt.step);
    if (at <= after || (last !== undefined && at > last)) continue;
    steps.set(at, underWay(attempt, run.state, steps.get(at)));
  }
  const shown = [...steps].sort(([a], [b]) => (a < b ? -1 : 1));
  const pageItems = shown.slice(0, call.limit);
  const [end] = pageItems.at(-1) ?? [];
  return {
    ...page,
    items: pageItems.map(([, step]) => step),
    ...(pageItems.length < shown.length && end !== undefined
      ? { next: encodeCursor('steps', [0, end]) }
      : {}),
  };
}

/** State of each step by its key, including running bodies, whose `seq` is `head` because they have no event. */
export function statesWithRunning(run: RunningRun): ReadonlyMap<string, StepState> {
  const states = new Map(run.state.steps);
  for (const { step, revision, attempt, since } of bodiesOf(run)) {
    const seq = Math.max(run.state.head, 1);
    states.set(step, { phase: 'running', seq, revision, attempt, startedAt: since });
  }
  return states;
}

/** Running bodies that the fold does not show as running. A step under compensation stays done. */
function bodiesOf({ state, metadata }: RunningRun): readonly RunningStep[] {
  return runningNow(state, metadata).filter(({ step, attempt, undoes }) => {
    const known = state.steps.get(step);
    return !undoes && !(known?.phase === 'running' && known.attempt >= attempt);
  });
}

function underWay(
  { step: id, revision, attempt, since, location }: RunningStep,
  { planVersion }: RunState,
  before: ShownStep | undefined,
): ShownStep {
  const running = { status: 'running', attempts: attempt, updatedAtMs: since, location } as const;
  if (before?.revision === revision) return { ...before, ...running };
  // Items of a map step have numbers, operations of a flow have names.
  const kind = /\[\d+\]$/.test(id.slice(stepIdOf(id).length)) ? 'map' : 'step';
  return { id, kind, planVersion, revision, startedAtMs: since, ...running };
}
