/** The history of one step from the events before a place in the journal, without those of the whole run. Pure. */
import type { RunEvent } from './events.ts';
import type { StepHistory } from './span.ts';
import { StepHistories } from './step-history.ts';

export interface NearHistory {
  readonly history: StepHistory | undefined;
  /** It begins with the first event of the step. Otherwise earlier attempts or effects may be missing. */
  readonly isWhole: boolean;
}

/** Events that may be the first of a step. */
const FIRST = new Set(['step_started', 'wait_opened', 'step_reused', 'step_skipped']);

/** @param events ascending, without a gap */
export function nearHistory(events: readonly RunEvent[], key: string): NearHistory {
  const histories = new StepHistories();
  histories.add(events);
  const history = histories.byKey.get(key);
  const first = history?.spans[0];
  const [oldest] = events;
  if (first === undefined || oldest === undefined) return { history, isWhole: false };
  const event = events.find(({ seq }) => seq === first.seq);
  // The start of a short step is not recorded: its time says whether it would be among the events.
  const isWithin = FIRST.has(event?.type ?? '') || first.from > Date.parse(oldest.at);
  return { history, isWhole: isWithin && first.attempt === 1 && first.revision === 1 };
}
