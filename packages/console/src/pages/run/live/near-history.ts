/** The history of one step from one page of events instead of the whole journal. Pure. */
import type { RunEvent } from './events.ts';
import type { StepHistory } from './span.ts';
import { StepHistories } from './step-history.ts';

export interface NearHistory {
  readonly history: StepHistory | undefined;
  /** True if the page contains the first event of the step. Otherwise earlier attempts or effects may be missing. */
  readonly isWhole: boolean;
}

/** Types that are the first event of a step that never began. */
const NEVER_BEGUN = new Set(['step_reused', 'step_skipped']);

/** @param events ascending, without a gap */
export function nearHistory(events: readonly RunEvent[], key: string): NearHistory {
  const histories = new StepHistories();
  histories.add(events);
  const history = histories.byKey.get(key);
  const first = history?.spans[0];
  const event = events.find(({ seq }) => seq === first?.seq);
  const [oldest] = events;
  if (!first || !event || !oldest) return { history, isWhole: false };
  const isWithin = NEVER_BEGUN.has(event.type) || beganAt(event) > Date.parse(oldest.at);
  return { history, isWhole: isWithin && first.revision === 1 };
}

/** Start of the first attempt, epoch ms, which later events of the attempt carry too. NaN if the event has none. */
function beganAt(event: RunEvent): number {
  const { wait, startedAt } = event.data as { wait?: { execution: Began } } & Partial<Began>;
  return Date.parse(wait?.execution.startedAt ?? startedAt ?? '');
}

interface Began {
  readonly startedAt: string;
}
