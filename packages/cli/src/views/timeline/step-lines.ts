/** Text of events of steps and waits. Pure. */

import { dayResumption, duration } from '@cairn/client';
import type { DataOf } from 'cairn/api/events';
import { questionText } from '../question.ts';
import { dueText, errorText, line, parts, stepName, stepsOf, type TimelineLine, valueText } from './line.ts';

export const STEP_LINES = {
  step_started: (data: DataOf<'step_started'>) => line('▸', 'busy', `${stepName(data)} started`),
  step_succeeded: (data: DataOf<'step_succeeded'>) =>
    line('✓', 'good', stepName(data), parts(duration(data.durationMs), data.outputsSummary)),
  step_degraded: (data: DataOf<'step_degraded'>) =>
    line('~', 'warn', `${stepName(data)} degraded: ${data.reason}`, duration(data.durationMs)),
  step_skipped: (data: DataOf<'step_skipped'>) => line('·', 'dim', `${stepName(data)} skipped`, data.reason),
  step_reused: (data: DataOf<'step_reused'>) =>
    line(
      '=',
      'good',
      `${stepName(data)} reused from ${data.from.runId}`,
      `checkpoint ${data.from.checkpoint}`,
    ),
  step_failed: (data: DataOf<'step_failed'>) =>
    line('✗', 'bad', `${stepName(data)} failed: ${errorText(data.error)}`, duration(data.durationMs)),
  step_retry_scheduled: (data: DataOf<'step_retry_scheduled'>, at: string) => {
    const again = `retry in ${duration(Date.parse(data.retryAt) - Date.parse(at))}`;
    if (data.polled)
      return line(
        '↻',
        'plain',
        `${stepName(data)} polled: condition not met`,
        parts(data.error.message, again),
      );
    if (data.budget) {
      const isHeld = Date.parse(data.retryAt) > Date.parse(at);
      return line('↻', 'plain', `${stepName(data)} waits for the budget`, isHeld ? data.error.message : '');
    }
    return line(
      '↻',
      'warn',
      `${stepName(data)} failed: ${errorText(data.error)}`,
      data.whenRoom ? 'retried when fewer questions are open' : again,
    );
  },
  step_compensated: (data: DataOf<'step_compensated'>) => line('↩', 'warn', `${stepName(data)} undone`),
  compensation_started: (data: DataOf<'compensation_started'>) =>
    line('↩', 'warn', `undoing ${stepsOf(data)}`, data.error && errorText(data.error)),
  compensation_failed: (data: DataOf<'compensation_failed'>) =>
    line('✗', 'bad', `${stepName(data)} undo failed: ${errorText(data.error)}`),
};

export const WAIT_LINES = {
  wait_opened: ({ wait }: DataOf<'wait_opened'>, at: string) => openedLine(wait, at),
  wait_resolved: (
    { waitId, decision, payload, signalId, raise }: DataOf<'wait_resolved'>,
    _at: string,
    actor: string | undefined,
  ) => {
    const why = dayResumption({ waitId, decision }, actor);
    if (why !== undefined) return line('▸', 'good', `${waitId}: resumed, ${why}`);
    if (decision === undefined) return line('←', 'good', `${waitId} answered`, signalId);
    return line(
      decision === 'reject' || decision === 'halt' ? '✗' : '✓',
      toneOf(decision),
      `${waitId}: ${decision}`,
      parts(raise && raiseText(raise), saidText(payload)),
    );
  },
  wait_expired: ({ waitId }: DataOf<'wait_expired'>) => line('!', 'bad', `${waitId}: timed out`),
  wait_heartbeat: ({ waitId, dueAt }: DataOf<'wait_heartbeat'>, at: string) =>
    line('♥', 'dim', `${waitId}: heartbeat`, dueText(dueAt, at)),
  signal_received: ({ name, key, payload }: DataOf<'signal_received'>) =>
    line('←', 'plain', `signal ${name}${key === undefined ? '' : ` for ${key}`}`, valueText(payload)),
  feedback_given: ({ again, feedback }: DataOf<'feedback_given'>) =>
    line('↻', 'warn', `sent back: ${again.join(', ')}`, feedback),
};

type OpenedWait = DataOf<'wait_opened'>['wait'];

function openedLine(wait: OpenedWait, at: string): TimelineLine {
  const step = stepName({ ...wait.execution, attempt: 1 });
  const due = dueText(wait.dueAt, at);
  if (wait.purpose === 'doubt')
    return line(
      '?',
      'bad',
      `${step} was interrupted and may have acted: a person must decide how to continue`,
      due,
    );
  if (wait.purpose === 'budget') return line('?', 'warn', questionText(wait.detail), due);
  switch (wait.kind) {
    case 'approval':
      return line('?', 'warn', `${step} asks: ${questionText(wait.detail)}`, due);
    case 'event':
      return line('…', 'warn', `${step} waits for event ${wait.name ?? ''} for ${wait.key ?? ''}`, due);
    case 'timer':
      return line('…', 'dim', `${step} sleeps`, due);
    case 'child':
      return line('…', 'dim', `${step} waits for child ${wait.child?.runId ?? ''}`, due);
  }
}

function raiseText({
  microUsd,
  wallClockMs,
  ...others
}: NonNullable<DataOf<'wait_resolved'>['raise']>): string {
  const raises = [
    ...(microUsd === undefined ? [] : [`${(microUsd / 1e6).toFixed(2)} USD`]),
    ...Object.entries(others).map(([name, amount]) => `${amount} ${name}`),
    ...(wallClockMs === undefined ? [] : [duration(wallClockMs)]),
  ];
  return `budget raised by ${raises.join(', ')}`;
}

function toneOf(decision: string): 'good' | 'warn' | 'bad' {
  if (decision === 'reject' || decision === 'halt') return 'bad';
  return decision === 'approve' ? 'good' : 'warn';
}

/** The note or the feedback, not the whole answer. */
function saidText(payload: unknown): string {
  const { note, feedback } = (payload ?? {}) as { readonly note?: string; readonly feedback?: string };
  return parts(note, feedback);
}
