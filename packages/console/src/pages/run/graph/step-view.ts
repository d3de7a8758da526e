/** Summary of a step in the graph, from the plan, its state and its history. Pure. */
import { type GraphStepState, type Run, type RunGraphNode, stepIdOf } from '../live/events.ts';
import { isOperation } from '../live/operations.ts';
import { shareOf } from '../live/progress.ts';
import type { StepHistory } from '../live/span.ts';
import type { Undone } from '../live/undone.ts';

interface ItemProgress {
  /** Number of known items. */
  readonly total: number;
  /** False until the set has ended, and if it failed: there may be more items. */
  readonly isWhole: boolean;
  /** False once the set has ended. */
  readonly isUnderWay: boolean;
  readonly done: number;
  readonly failed: number;
  /** Running, waiting, or to be tried again. */
  readonly open: number;
  /** Completed items that were undone since, and items whose undo failed. */
  readonly undone: number;
  readonly undoFailed: number;
}

export interface StepView {
  readonly id: string;
  readonly kind: string;
  readonly needs: readonly string[];
  /** The phase, outcome or result of the undo; {@link UNDER_WAY} or {@link NOT_BEGUN} while nothing is recorded. */
  readonly status: string;
  readonly revision: number;
  readonly attempts: number;
  readonly durationMs: number | undefined;
  /** Epoch ms; set while the step is under way. */
  readonly runningSince: number | undefined;
  readonly items: ItemProgress | undefined;
  /** Progress of a running step, from 0 to 1, if its body reports it. */
  readonly share: number | undefined;
}

export const NOT_BEGUN = 'not started';
/** A worker has the run and every dependency is done. The start itself is recorded only for steps that must not run twice. */
export const UNDER_WAY = 'running';

/** Shown of a step that had not ended when its run did. */
export const STOPPED = 'stopped';

/** Shown instead of the outcome once a step was undone. */
const UNDONE = { compensated: 'undone', failed: 'undo failed' } as const;

export interface StepsKnown {
  readonly nodes: readonly RunGraphNode[] | undefined;
  readonly steps: ReadonlyMap<string, GraphStepState>;
  readonly histories: ReadonlyMap<string, StepHistory>;
}

/** Items are counted at their step, in one pass over all. */
export function itemCounts(
  steps: ReadonlyMap<string, GraphStepState>,
  undone: ReadonlyMap<string, Undone> = new Map(),
): ReadonlyMap<string, ItemProgress> {
  const counts = new Map<string, { -readonly [K in keyof ItemProgress]: ItemProgress[K] }>();
  for (const [key, step] of steps) {
    const id = stepIdOf(key);
    if (id === key) continue;
    const set = steps.get(id);
    const isUnderWay = set?.phase !== 'done';
    const isWhole = set?.phase === 'done' && set.outcome !== 'failed';
    const count = counts.get(id) ?? {
      ...{ total: 0, isWhole, isUnderWay, done: 0, failed: 0, open: 0, undone: 0, undoFailed: 0 },
    };
    counts.set(id, count);
    count.total += 1;
    if (step.phase !== 'done') count.open += 1;
    else if (step.outcome === 'failed') count.failed += 1;
    else count.done += 1;
    const undoing = undone.get(key)?.outcome;
    if (undoing === 'compensated') count.undone += 1;
    if (undoing === 'failed') count.undoFailed += 1;
  }
  return counts;
}

/** Returns the plan or, if it is not deployed, the steps that have begun, without needs. */
export function planOf({ nodes, steps, histories }: StepsKnown): readonly RunGraphNode[] {
  if (nodes) return nodes;
  const ids = new Set([...steps.keys()].map(stepIdOf));
  return [...ids].map((id) => ({ id, kind: histories.get(id)?.kind ?? 'step', needs: [] }));
}

/** Returns the steps that the current dispatch must have begun, although nothing is recorded yet. */
export function underWay(
  nodes: readonly RunGraphNode[] | undefined,
  steps: ReadonlyMap<string, GraphStepState>,
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

interface StepFacts extends Pick<StepsKnown, 'steps' | 'histories'> {
  readonly items: ReadonlyMap<string, ItemProgress>;
  readonly working?: ReadonlySet<string>;
  readonly undone?: ReadonlyMap<string, Undone>;
  readonly progress?: Run['progress'];
  /** The run has ended. */
  readonly isOver?: boolean;
}

export function stepView({ id, kind, needs }: RunGraphNode, facts: StepFacts): StepView {
  const { steps, histories, working, undone, progress, isOver } = facts;
  const state = steps.get(id);
  const history = histories.get(id);
  const items = facts.items.get(id);
  return {
    id,
    kind,
    needs,
    status:
      !state && working?.has(id) ? UNDER_WAY : (undoingOf(undone?.get(id), items) ?? statusOf(state, isOver)),
    revision: state?.revision ?? 1,
    attempts: state && 'attempt' in state ? state.attempt : (history?.attempts ?? 0),
    durationMs: state?.phase === 'done' ? history?.durationMs : undefined,
    runningSince: state?.phase === 'running' && !isOver ? Date.parse(state.startedAt) : undefined,
    items,
    share:
      state?.phase === 'done' || isOver
        ? undefined
        : shareOf(progress?.find(({ step }) => step === id)?.details),
  };
}

/** Outcomes of the items of a set. */
function undoingOf(own: Undone | undefined, items: ItemProgress | undefined): string | undefined {
  if (own) return UNDONE[own.outcome];
  if (!items || items.undone + items.undoFailed === 0) return undefined;
  return items.undoFailed > 0 ? UNDONE.failed : UNDONE.compensated;
}

/**
 * @param undoing how the item was undone, if it was
 * @param isOver the run has ended
 */
export function itemStatus(
  state: GraphStepState | undefined,
  undoing: Undone | undefined,
  isOver: boolean,
): string {
  return undoing ? UNDONE[undoing.outcome] : statusOf(state, isOver);
}

/** Kind of an item of a set, or of an operation of a flow. */
export function itemKind(key: string, history: StepHistory | undefined): string {
  return isOperation(key) ? (history?.kind ?? 'operation') : 'item';
}

function statusOf(state: GraphStepState | undefined, isOver = false): string {
  if (!state) return NOT_BEGUN;
  if (state.phase === 'done') return state.outcome;
  return isOver ? STOPPED : state.phase;
}

/** @param kind that of the set */
export function itemsText(
  { total, isWhole, isUnderWay, done, failed, open, undone, undoFailed }: ItemProgress,
  kind: string,
): string {
  const item = kind === 'flow' ? 'operation' : 'item';
  const items = (count: number) => (count === 1 ? item : `${item}s`);
  const soFar = isUnderWay ? ' so far' : '';
  const text = (count: number) => count.toLocaleString('en');
  const parts = [
    isWhole ? `${text(done)} of ${text(total)} ${items(total)}` : `${text(done)} ${items(done)} done${soFar}`,
  ];
  if (open > 0) parts.push(`${text(open)} open`);
  if (failed > 0) parts.push(`${text(failed)} failed`);
  if (undone > 0) parts.push(`${text(undone)} undone`);
  if (undoFailed > 0) parts.push(`${text(undoFailed)} could not be undone`);
  return parts.join(', ');
}
