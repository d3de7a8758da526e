/** Text of events of steps and waits. Pure. */
import type { DataOf } from 'cairn/api/events';
import { amountText } from '../explain/budget-lines.ts';
import { dayResumption } from '../explain/day-end.ts';
import { waitLine } from '../wait-text.ts';
import {
  dueText,
  type EventContext,
  type EventLine,
  type EventLines,
  errorText,
  line,
  msBetween,
  parts,
  stepName,
} from './line.ts';

export const STEP_LINES = {
  step_started: (data) => line('▸', 'busy', `${stepName(data)} started`),
  step_succeeded: (data, { duration }) =>
    line('✓', 'good', stepName(data), parts(duration(data.durationMs), data.outputsSummary)),
  step_degraded: (data, { duration }) =>
    line('~', 'warn', `${stepName(data)} degraded: ${data.reason}`, duration(data.durationMs)),
  step_skipped: (data) => line('·', 'dim', `${stepName(data)} skipped`, data.reason),
  step_reused: (data) =>
    line(
      '=',
      'good',
      `${stepName(data)} reused from ${data.from.runId}`,
      `checkpoint ${data.from.checkpoint}`,
    ),
  step_failed: (data, { duration }) =>
    line('✗', 'bad', `${stepName(data)} failed: ${errorText(data.error)}`, duration(data.durationMs)),
  step_retry_scheduled: (data, { at, duration }) => {
    const again = `retry in ${duration(msBetween(at, data.retryAt))}`;
    if (data.polled)
      return line(
        '↻',
        'plain',
        `${stepName(data)} polled: condition not met`,
        parts(data.error.message, again),
      );
    if (data.budget) {
      const isDeferred = msBetween(at, data.retryAt) > 0;
      return line(
        '↻',
        'plain',
        `${stepName(data)} waits for the budget`,
        isDeferred ? data.error.message : '',
      );
    }
    return line(
      '↻',
      'warn',
      `${stepName(data)} failed: ${errorText(data.error)}`,
      data.whenRoom ? 'retried when fewer questions are open' : again,
    );
  },
  step_compensated: (data) => line('↩', 'warn', `${stepName(data)} undone`),
  compensation_failed: (data) => line('✗', 'bad', `${stepName(data)} undo failed: ${errorText(data.error)}`),
  wait_opened: ({ wait }, context) => openedLine(wait, context),
  wait_resolved: ({ waitId, decision, payload, signalId, raise }, { actor, duration }) => {
    const why = dayResumption({ waitId, decision }, actor);
    if (why !== undefined) return line('▸', 'good', `${waitId}: resumed, ${why}`);
    if (decision === undefined) return line('←', 'good', `${waitId} answered`, signalId);
    return line(
      decision === 'reject' || decision === 'halt' ? '✗' : '✓',
      toneOf(decision),
      `${waitId}: ${decision.replaceAll('_', ' ')}`,
      parts(raise && raiseText(raise, duration), saidText(payload)),
    );
  },
  wait_expired: ({ waitId }) => line('!', 'bad', `${waitId}: timed out`),
  wait_heartbeat: ({ waitId, dueAt }, context) =>
    line('♥', 'dim', `${waitId}: heartbeat`, dueText(dueAt, context)),
} satisfies Partial<EventLines>;

type OpenedWait = DataOf<'wait_opened'>['wait'];

function openedLine(wait: OpenedWait, context: EventContext): EventLine {
  const text = waitLine(wait, stepName({ ...wait.execution, attempt: 1 }));
  const due = dueText(wait.dueAt, context);
  switch (wait.kind) {
    case 'approval':
      return line('?', wait.purpose === 'doubt' ? 'bad' : 'wait', text, due);
    case 'event':
      return line('…', 'wait', text, due);
    default:
      return line('…', 'dim', text, due);
  }
}

function raiseText(
  { microUsd, wallClockMs, ...others }: NonNullable<DataOf<'wait_resolved'>['raise']>,
  duration: EventContext['duration'],
): string {
  const raises = [
    ...(microUsd === undefined ? [] : [`${amountText(microUsd / 1e6)} USD`]),
    ...Object.entries(others).map(([name, amount]) => `${amount} ${name}`),
    ...(wallClockMs === undefined ? [] : [duration(wallClockMs)]),
  ];
  return `budget raised by ${raises.join(', ')}`;
}

function toneOf(decision: string): 'good' | 'warn' | 'bad' {
  if (decision === 'reject' || decision === 'halt') return 'bad';
  return decision === 'approve' ? 'good' : 'warn';
}

/** The note or the feedback of an answer. */
function saidText(payload: unknown): string {
  const { note, feedback } = (payload ?? {}) as { readonly note?: string; readonly feedback?: string };
  return parts(note, feedback);
}
