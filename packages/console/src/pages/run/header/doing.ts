/** The steps that a run is executing, and those that it retries. Pure. */
import type { Activity, Deferral } from '@cairn/client';
import { type StepsKnown, underWay } from '../graph/step-view.ts';
import type { GraphStepState, Run } from '../live/events.ts';
import type { TimelineSpan } from '../live/span.ts';

/** A step that failed and will be retried. */
export interface Trying {
  readonly key: string;
  /** Number of the last failed attempt. */
  readonly attempt: number;
  /** ISO. */
  readonly retryAt: string;
  /** Number of polls in which the condition of the step did not hold. */
  readonly polls?: number | undefined;
  /** Undefined while the failure is not in the loaded history. */
  readonly error?: TimelineSpan['error'] | undefined;
  readonly deferral?: Deferral | undefined;
}

interface Doing {
  /** Keys of steps whose body runs. */
  readonly working: readonly string[];
  readonly trying: readonly Trying[];
}

export function doingOf(
  { nodes, steps, histories }: StepsKnown,
  run: Pick<Run, 'status' | 'lease' | 'compensating' | 'cancellation'>,
): Doing {
  if (run.status !== 'running' && run.status !== 'replaying') return { working: [], trying: [] };
  const states = [...steps.values()];
  // The items of a running map are more informative than the map itself.
  const started = states.filter(({ phase }) => phase === 'running').map(({ key }) => key);
  const sets = new Set(started.filter((key) => started.some((other) => other.startsWith(`${key}[`))));
  return {
    working: [...started.filter((key) => !sets.has(key)), ...underWay(nodes, steps, run)],
    trying: states.flatMap((step) => (isTrying(step) ? [trying(step, histories)] : [])),
  };
}

export function activityOf({ working, trying }: Doing): Activity {
  const retrying = trying.map(({ key, polls, attempt, deferral }) => ({
    key,
    isPolling: polls === attempt && deferral === undefined,
    deferral,
  }));
  return { working, retrying };
}

type Retrying = Extract<GraphStepState, { readonly phase: 'retrying' }>;

function isTrying(step: GraphStepState): step is Retrying {
  return step.phase === 'retrying' && !step.whenRoom;
}

function trying({ key, attempt, retryAt, polls }: Retrying, histories: StepsKnown['histories']): Trying {
  const spans = histories.get(key)?.spans ?? [];
  const error = spans.findLast(({ end }) => end === 'retried')?.error;
  return { key, attempt, retryAt, polls, error, deferral: deferralOf(spans.at(-1)) };
}

function deferralOf(last: TimelineSpan | undefined): Deferral | undefined {
  if (last?.end !== 'deferred') return undefined;
  return { reason: last.note ?? 'a budget is reached', isOver: (last.dueAt ?? 0) <= (last.to ?? 0) };
}
