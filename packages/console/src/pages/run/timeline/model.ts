/** The timeline of a run from its events: its dispatches, and the moments that changed its course. Pure. */
import { known, type Run, type RunEvent, stepIdOf } from '../live/events.ts';
import { type LoadedPart, openEnd, withOpenEnds } from '../live/open-ends.ts';
import { isOperation, itemText, turnsOf } from '../live/operations.ts';
import type { StepHistory, TimelineSpan } from '../live/span.ts';

/** A dispatch: from the claim of the lease to its end. Times are epoch ms. */
export interface DispatchBar {
  readonly epoch: number;
  readonly from: number;
  /** Absent while the dispatch lasts or if its end is unknown. For a dispatch that died, its last heartbeat. */
  readonly to?: number;
  readonly end: 'open' | 'released' | 'suspended' | 'died' | 'ended' | 'not_loaded';
}

/** A moment that is marked across all rows. */
interface TimelineMoment {
  readonly seq: number;
  readonly at: number;
  readonly kind: 'died' | 'found' | 'resumed' | 'sent_back' | 'suspended' | 'continued' | 'cancel' | 'end';
  readonly text: string;
  readonly tone: string;
}

export interface Life {
  readonly dispatches: readonly DispatchBar[];
  readonly moments: readonly TimelineMoment[];
  /** Time of the first event. */
  readonly from: number;
  /** Time of the last known event. */
  readonly to: number;
}

export function lifeOf(events: readonly RunEvent[]): Life {
  const dispatches: DispatchBar[] = [];
  const moments: TimelineMoment[] = [];
  const close = (to: number, end: DispatchBar['end']) => {
    const last = dispatches.at(-1);
    if (last?.end === 'open')
      dispatches[dispatches.length - 1] = { ...last, to: Math.max(last.from, to), end };
  };
  let wasInterrupted = false;
  for (const anyEvent of events) {
    const event = known(anyEvent);
    const at = Date.parse(event.at);
    const mark = (kind: TimelineMoment['kind'], text: string, tone: string, when = at) =>
      moments.push({ seq: event.seq, at: when, kind, text, tone });
    switch (event.type) {
      case 'run_claimed':
        close(at, 'released');
        dispatches.push({ epoch: event.data.epoch, from: at, end: 'open' });
        break;
      case 'run_released':
        close(at, 'released');
        break;
      case 'run_suspended':
        close(at, 'suspended');
        break;
      case 'orphan_detected': {
        const lastHeartbeatAt = Date.parse(event.data.lastHeartbeatAt);
        close(lastHeartbeatAt, 'died');
        wasInterrupted = true;
        const died = `Worker of dispatch ${event.data.epoch} died: last heartbeat`;
        mark('died', died, 'bad', Math.min(lastHeartbeatAt, at));
        mark('found', 'Interruption detected', 'warn');
        break;
      }
      case 'run_resumed':
        if (wasInterrupted) mark('resumed', 'Resumed', 'good');
        wasInterrupted = false;
        break;
      case 'feedback_given':
        mark('sent_back', `Sent back: ${event.data.steps.join(', ')}`, 'warn');
        break;
      case 'cancel_requested':
      case 'suspend_requested':
      case 'continue_requested': {
        const [kind, text, tone] = REQUESTS[event.type];
        mark(kind, text, tone);
        break;
      }
      case 'run_completed':
      case 'run_failed':
      case 'run_cancelled': {
        const word = event.type.slice('run_'.length);
        close(at, 'ended');
        mark('end', word[0]?.toUpperCase() + word.slice(1), ENDS[event.type]);
        break;
      }
    }
  }
  const from = Date.parse(events[0]?.at ?? '');
  return { dispatches, moments, from, to: Date.parse(events.at(-1)?.at ?? '') };
}

const REQUESTS = {
  cancel_requested: ['cancel', 'Cancellation requested', 'warn'],
  suspend_requested: ['suspended', 'Suspended by an operator', 'warn'],
  continue_requested: ['continued', 'Continued', 'good'],
} as const;

const ENDS = { run_completed: 'good', run_failed: 'bad', run_cancelled: 'quiet' } as const;

export interface TimelineRow {
  readonly key: string;
  readonly text: string;
  readonly isItem: boolean;
  /** One step, or the turns of an operation in order. */
  readonly steps: readonly StepHistory[];
  /** Number of items of a set, or of turns of an operation. */
  readonly items: number;
}

/**
 * Rows of the steps in the order in which they began.
 *
 * @param withItems adds a row for each item of a map and each operation of a flow; otherwise the turns of an operation share one
 */
export function timelineRows(histories: ReadonlyMap<string, StepHistory>, withItems: boolean): TimelineRow[] {
  const byStep = Map.groupBy(histories.values(), ({ key }) => stepIdOf(key));
  return [...byStep].flatMap(([id, all]) => {
    const step = histories.get(id);
    const own = all.filter(({ key }) => key !== id);
    const isFlow = own[0] !== undefined && isOperation(own[0].key);
    const row: TimelineRow = {
      key: id,
      text: id,
      isItem: false,
      steps: [step ?? NOTHING_OF(id)],
      items: own.length,
    };
    if (withItems) return [row, ...own.map(itemRow)];
    if (isFlow) return [row, ...turnRows(own)];
    return [own.length === 0 || step ? row : { ...row, steps: [spanning(id, own)] }];
  });
}

function itemRow(item: StepHistory): TimelineRow {
  return { key: item.key, text: itemText(item.key), isItem: true, steps: [item], items: 0 };
}

function turnRows(own: readonly StepHistory[]): TimelineRow[] {
  const byKey = new Map(own.map((step) => [step.key, step]));
  return turnsOf([...byKey.keys()]).map(({ key, name, members }) => {
    const steps = members.flatMap((member) => byKey.get(member) ?? []);
    return { key, text: name, isItem: true, steps, items: steps.length > 1 ? steps.length : 0 };
  });
}

/** Closes the dispatches that the loaded events leave open, unless the run names them as current. */
export function dispatchesAsLoaded(
  dispatches: readonly DispatchBar[],
  loaded: LoadedPart,
): readonly DispatchBar[] {
  return dispatches.map((dispatch) => {
    if (dispatch.end !== 'open') return dispatch;
    const end = openEnd(loaded, dispatch.epoch === loaded.run?.lease?.epoch);
    return end === undefined ? dispatch : { ...dispatch, end };
  });
}

export function rowsAsLoaded(rows: readonly TimelineRow[], loaded: LoadedPart): readonly TimelineRow[] {
  return rows.map((row) => ({ ...row, steps: row.steps.map((step) => withOpenEnds(step, loaded)) }));
}

/** Adds the bodies that the run names as running to the histories, because most record no event before they end. */
export function withRunningSpans(
  histories: ReadonlyMap<string, StepHistory>,
  running: Run['running'],
): ReadonlyMap<string, StepHistory> {
  const open = running.filter(
    ({ step, undoes }) => !undoes && (stepIdOf(step) === step || isOperation(step)),
  );
  if (open.length === 0) return histories;
  const all = new Map(histories);
  for (const { step: key, revision, attempt, since } of open) {
    const step = all.get(key) ?? { ...NOTHING_OF(key), kind: 'step' };
    if (step.spans.some(({ to }) => to === undefined)) continue;
    const span: TimelineSpan = { kind: 'attempt', seq: 0, revision, attempt, from: Date.parse(since) };
    all.set(key, { ...step, spans: [...step.spans, span] });
  }
  return all;
}

/** Empty history of a map, whose start is reported only at its end. */
const NOTHING_OF = (key: string): StepHistory => ({ key, kind: 'map', spans: [], attempts: 0, effects: [] });

function spanning(key: string, items: readonly StepHistory[]): StepHistory {
  const spans = items.flatMap((item) => item.spans);
  const from = spans.reduce((least, span) => Math.min(least, span.from), Number.POSITIVE_INFINITY);
  if (!Number.isFinite(from)) return NOTHING_OF(key);
  return {
    ...NOTHING_OF(key),
    spans: [{ kind: 'attempt', seq: spans[0]?.seq ?? 0, revision: 1, attempt: 1, from }],
  };
}
