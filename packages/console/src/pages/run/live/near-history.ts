/** The history of one step from the events before a place in the journal, without those of the whole run. Pure. */
import type { RunEvent } from './events.ts';
import type { StepHistory } from './span.ts';
import { StepHistories } from './step-history.ts';

export interface NearHistory {
  readonly history: StepHistory | undefined;
  /** It begins with the first event of the step. Otherwise earlier attempts or effects may be missing. */
  readonly isWhole: boolean;
}

/** Events of a step that was never begun: there is nothing before them. */
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

/** Begin of the first attempt, epoch ms: an event that is recorded later has it too. NaN: it has none. */
function beganAt(event: RunEvent): number {
  const { wait, startedAt } = event.data as { wait?: { execution: Began } } & Partial<Began>;
  return Date.parse(wait?.execution.startedAt ?? startedAt ?? '');
}

interface Began {
  readonly startedAt: string;
}
