/** Rows of the table of steps: each step of the plan and below it its items, or the operations of a flow. Pure. */
import { countOf } from '../../../parts/visible-text.ts';
import { type GraphStepState, type RunGraphNode, stepIdOf } from '../live/events.ts';
import { isOperation, type Turns, turnsOf } from '../live/operations.ts';
import type { StepHistory } from '../live/span.ts';
import { STOPPED, type StepView } from './step-view.ts';

export type TableRow =
  | { readonly kind: 'step'; readonly key: string; readonly depth: 0 | 1 | 2 }
  | ({ readonly kind: 'turns'; readonly isOpen: boolean } & Turns);

interface TableShown {
  /** False: every operation is a row of its own, in the order of the journal. */
  readonly isFolded: boolean;
  /** Keys of the turns that are unfolded. */
  readonly open: ReadonlySet<string>;
}

type StepStates = ReadonlyMap<string, GraphStepState>;
type Histories = ReadonlyMap<string, StepHistory>;

export function tableRows(
  plan: readonly RunGraphNode[],
  steps: StepStates,
  histories: Histories,
  shown: TableShown,
): readonly TableRow[] {
  const items = Map.groupBy([...steps.keys()].filter(isItem), stepIdOf);
  const rows: TableRow[] = [];
  for (const { id } of plan) {
    rows.push({ kind: 'step', key: id, depth: 0 });
    const own = items.get(id);
    if (!own) continue;
    if (isOperation(own[0] ?? '')) rows.push(...operationRows(asTheyRan(own, steps, histories), shown));
    else rows.push(...own.sort(byItem).map((key) => row(key, 1)));
  }
  return rows;
}

interface InnerCounts {
  readonly operations: number;
  /** Number of executions of maps and of lists of children. */
  readonly items: number;
  /** Names of operations that occur more than once. */
  readonly repeated: number;
}

/** The executions of the plan's flows and sets. */
export function innerCounts(steps: StepStates): InnerCounts {
  const inner = [...steps.keys()].filter((key) => stepIdOf(key) !== key);
  const operations = inner.filter(isOperation);
  return {
    operations: operations.length,
    items: inner.length - operations.length,
    repeated: turnsOf(operations).filter(({ members }) => members.length > 1).length,
  };
}

/** Operations and items are steps, too, in the sentence above and in lists of runs. */
export function stepCountText(
  planned: number,
  { operations, items }: Pick<InnerCounts, 'operations' | 'items'>,
  isPlanned: boolean,
): string {
  const all = `${countOf(planned + operations + items, 'step')}${isPlanned ? '' : ' started'}`;
  if (operations + items === 0) return all;
  const parts = [
    isPlanned ? `${planned.toLocaleString('en')} of the plan` : countOf(planned, 'step'),
    ...(items > 0 ? [countOf(items, 'item')] : []),
    ...(operations > 0 ? [countOf(operations, 'operation')] : []),
  ];
  return `${all}: ${parts.join(', ')}`;
}

function operationRows(keys: readonly string[], { isFolded, open }: TableShown): TableRow[] {
  if (!isFolded) return keys.map((key) => row(key, 1));
  return turnsOf(keys).flatMap((turns) => {
    const [first = ''] = turns.members;
    if (turns.members.length === 1) return [row(first, 1)];
    const isOpen = open.has(turns.key);
    const head: TableRow = { kind: 'turns', isOpen, ...turns };
    return isOpen ? [head, ...turns.members.map((key) => row(key, 2))] : [head];
  });
}

function row(key: string, depth: 1 | 2): TableRow {
  return { kind: 'step', key, depth };
}

function isItem(key: string): boolean {
  return stepIdOf(key) !== key;
}

/** Sorts by first event; keys without a loaded event come last. Before events are loaded, sorts by the newest event. */
function asTheyRan(keys: readonly string[], steps: StepStates, histories: Histories): readonly string[] {
  const place = (key: string) => {
    const first = histories.get(key)?.spans[0]?.seq;
    if (first !== undefined) return first;
    const state = steps.get(key);
    return state?.phase === 'running' ? Number.POSITIVE_INFINITY : (state?.seq ?? Number.POSITIVE_INFINITY);
  };
  return keys
    .map((key) => ({ key, at: place(key) }))
    .sort((a, b) => (a.at === b.at ? byItem(a.key, b.key) : a.at - b.at))
    .map(({ key }) => key);
}

/** Created on demand, because it takes 25 ms and few pages need it. */
let numbers: Intl.Collator | undefined;
function byItem(a: string, b: string): number {
  numbers ??= new Intl.Collator('en', { numeric: true });
  return numbers.compare(a, b);
}

export type RowFacts = Pick<StepView, 'kind' | 'status' | 'attempts' | 'revision' | 'durationMs'> & {
  /** Output, needs, or number of items. */
  readonly more: string;
};

const ENDED = new Set([
  'succeeded',
  'degraded',
  'skipped',
  'reused',
  'failed',
  'undone',
  'undo failed',
  STOPPED,
]);

/** Facts of several turns: the state of the one that is open, or else of the last, and the number of turns in each state. */
export function sumOf(turns: readonly RowFacts[]): RowFacts {
  const open = turns.findLast(({ status }) => !ENDED.has(status));
  const last = open ?? turns.at(-1);
  const times = turns.flatMap(({ durationMs }) => (durationMs === undefined ? [] : [durationMs]));
  const counts = Object.entries(Object.groupBy(turns, ({ status }) => status));
  return {
    kind: last?.kind ?? 'operation',
    status: last?.status ?? '',
    attempts: 0,
    revision: last?.revision ?? 1,
    durationMs: times.length === 0 ? undefined : times.reduce((sum, ms) => sum + ms),
    more: counts.map(([status, some]) => `${some?.length ?? 0} ${status}`).join(', '),
  };
}
