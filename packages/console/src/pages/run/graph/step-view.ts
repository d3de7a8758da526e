/** What is shown of a step at a glance, from the plan, its state and its history. Pure. */
import { type GraphNode, type Run, type StepState, stepIdOf } from '../live/events.ts';
import type { StepHistory } from '../live/span.ts';

export interface ItemCounts {
  /** Of those that are known. */
  readonly total: number;
  /** Until the set has ended, there may be more than have been told of. */
  readonly isWhole: boolean;
  readonly done: number;
  readonly failed: number;
  /** Running, waiting, or to be tried again. */
  readonly open: number;
}

export interface StepView {
  readonly id: string;
  readonly kind: string;
  readonly needs: readonly string[];
  /** A phase, or the outcome of what is done; `under way` or `not begun` for what nothing is written of yet. */
  readonly status: string;
  readonly seq: number | undefined;
  readonly revision: number;
  readonly attempts: number;
  readonly durationMs: number | undefined;
  /** Epoch ms, of what is under way. */
  readonly runningSince: number | undefined;
  readonly items: ItemCounts | undefined;
}

export const NOT_BEGUN = 'not begun';
/** A drive holds the run and nothing stands before the step. That it begins is written down only where it must not run twice. */
export const UNDER_WAY = 'under way';

export interface StepsKnown {
  readonly nodes: readonly GraphNode[] | undefined;
  readonly steps: ReadonlyMap<string, StepState>;
  readonly histories: ReadonlyMap<string, StepHistory>;
}

/** Items are counted at their step, in one pass over all. */
export function itemCounts(steps: ReadonlyMap<string, StepState>): ReadonlyMap<string, ItemCounts> {
  const counts = new Map<string, { -readonly [K in keyof ItemCounts]: ItemCounts[K] }>();
  for (const [key, step] of steps) {
    const id = stepIdOf(key);
    if (id === key) continue;
    const isWhole = steps.get(id)?.phase === 'done';
    const count = counts.get(id) ?? { total: 0, isWhole, done: 0, failed: 0, open: 0 };
    counts.set(id, count);
    count.total += 1;
    if (step.phase !== 'done') count.open += 1;
    else if (step.outcome === 'failed') count.failed += 1;
    else count.done += 1;
  }
  return counts;
}

/** The plan; or, where it is not deployed, the steps that have begun, which need nothing that is known. */
export function planOf({ nodes, steps, histories }: StepsKnown): readonly GraphNode[] {
  if (nodes) return nodes;
  const ids = new Set([...steps.keys()].map(stepIdOf));
  return [...ids].map((id) => ({ id, kind: histories.get(id)?.kind ?? 'step', needs: [] }));
}

/** The steps of which nothing is written yet and at which the drive of the run is. */
export function underWay(
  nodes: readonly GraphNode[] | undefined,
  steps: ReadonlyMap<string, StepState>,
  run: Pick<Run, 'status' | 'lease' | 'compensating' | 'cancellation'> | undefined,
): ReadonlySet<string> {
  if (run?.status !== 'running' || !run.lease || run.compensating || run.cancellation) return new Set();
  const isDone = (id: string) => {
    const step = steps.get(id);
    return step?.phase === 'done' && step.outcome !== 'failed';
  };
  const begins = nodes?.filter(({ id, needs }) => !steps.has(id) && needs.every(isDone)) ?? [];
  return new Set(begins.map(({ id }) => id));
}

export function stepView(
  { id, kind, needs }: GraphNode,
  { steps, histories }: Pick<StepsKnown, 'steps' | 'histories'>,
  items: ReadonlyMap<string, ItemCounts>,
  working: ReadonlySet<string> = new Set(),
): StepView {
  const state = steps.get(id);
  const history = histories.get(id);
  return {
    id,
    kind,
    needs,
    status: !state && working.has(id) ? UNDER_WAY : statusOf(state),
    seq: state?.seq,
    revision: state?.revision ?? 1,
    attempts: state && 'attempt' in state ? state.attempt : (history?.attempts ?? 0),
    durationMs: state?.phase === 'done' ? history?.durationMs : undefined,
    runningSince: state?.phase === 'running' ? Date.parse(state.startedAt) : undefined,
    items: items.get(id),
  };
}

export function statusOf(state: StepState | undefined): string {
  if (!state) return NOT_BEGUN;
  return state.phase === 'done' ? state.outcome : state.phase;
}

export function itemsText({ total, isWhole, done, failed, open }: ItemCounts): string {
  const parts = [isWhole ? `${done} of ${total} items` : `${done} items done so far`];
  if (open > 0) parts.push(`${open} open`);
  if (failed > 0) parts.push(`${failed} failed`);
  return parts.join(', ');
}
