/** The events of a run as rows: status change, step, and a short text. Pure. */
import { stepKey } from '@cairn/client';
import { checkpointWords } from '../checkpoints/made-by.ts';
import { known, type RunEvent } from '../live/events.ts';
import { statusAfter, UNBEGUN } from '../live/status-after.ts';

export interface JournalRow {
  readonly event: RunEvent;
  /** Change of the run's status by the event. */
  readonly moved: { readonly from: string; readonly to: string } | undefined;
  /** Key of the step that the event is about. */
  readonly step: string | undefined;
  /** True if the event made a checkpoint, which has the same seq. */
  readonly isCheckpoint: boolean;
}

/** @param events from the first on, without a gap */
export function journalRows(events: readonly RunEvent[]): readonly JournalRow[] {
  const stepsOfWaits = new Map<string, string>();
  let state = UNBEGUN;
  return events.map((event) => {
    const from = state.status;
    state = statusAfter(state, event);
    const to = state.status;
    const step = stepOf(event, stepsOfWaits);
    return {
      event,
      moved: from === to ? undefined : { from, to },
      step,
      isCheckpoint: checkpointWords(event) !== undefined,
    };
  });
}

/** @param waits maps each wait to the step that opened it; filled by this function */
function stepOf(anyEvent: RunEvent, waits: Map<string, string>): string | undefined {
  const event = known(anyEvent);
  if (event.type === 'wait_opened') {
    const step = stepKey(event.data.wait.execution);
    waits.set(event.data.wait.id, step);
    return step;
  }
  const { stepId, itemKey, waitId } = anyEvent.data as {
    readonly stepId?: unknown;
    readonly itemKey?: unknown;
    readonly waitId?: unknown;
  };
  if (typeof stepId === 'string')
    return stepKey({ stepId, itemKey: typeof itemKey === 'string' ? itemKey : undefined });
  return typeof waitId === 'string' ? waits.get(waitId) : undefined;
}

export function wantedRows(
  rows: readonly JournalRow[],
  { type, step }: { readonly type?: string | undefined; readonly step?: string | undefined },
): readonly JournalRow[] {
  if (type === undefined && step === undefined) return rows;
  return rows.filter(
    (row) => (type === undefined || row.event.type === type) && (step === undefined || row.step === step),
  );
}

/** Filter values, each with its number of rows. */
export function facetsOf(rows: readonly JournalRow[]) {
  const types = new Map<string, number>();
  const steps = new Map<string, number>();
  for (const { event, step } of rows) {
    types.set(event.type, (types.get(event.type) ?? 0) + 1);
    if (step !== undefined) steps.set(step, (steps.get(step) ?? 0) + 1);
  }
  return {
    types: [...types].sort(([a], [b]) => (a < b ? -1 : 1)),
    steps: [...steps],
  };
}

/** The most important data as one line; an opened row shows all. */
export function gistOf({ data }: RunEvent): string {
  const { error, reason, outcome, decision, capabilityId, name, feedback, outputsSummary, by, mode, wait } =
    data as Readonly<Record<string, unknown>>;
  const failure = error as { readonly code?: unknown; readonly message?: unknown } | undefined;
  const opened = wait as { readonly kind?: unknown; readonly name?: unknown } | undefined;
  const texts = [
    failure && `${failure.code}: ${failure.message}`,
    opened?.kind,
    opened?.name,
    capabilityId,
    outcome,
    decision,
    name,
    mode,
    reason,
    feedback,
    outputsSummary,
    by,
  ];
  return texts.filter((part): part is string => typeof part === 'string' && part !== '').join(' · ');
}
