/** Text of events of the run as a whole. Pure. */
import type { DataOf } from 'cairn/api/events';
import { type EventLines, errorText, line, msBetween, parts, stepName, stepsOf, valueText } from './line.ts';

export const RUN_LINES = {
  run_created: (data) =>
    line(
      '●',
      'bold',
      `created by ${triggerText(data.trigger)}`,
      parts(
        `${data.type} v${data.planVersion}`,
        data.source && `${data.source.mode} of ${data.source.runId}`,
        data.parent && `child of ${data.parent.runId} (${data.parent.stepId})`,
      ),
    ),
  run_claimed: ({ epoch }) => line('▶', 'dim', `dispatch ${epoch} claimed the run`),
  run_started: ({ deadlineAt }, { moment }) =>
    line('▶', 'dim', 'started', deadlineAt && `deadline ${moment(deadlineAt)}`),
  policy_evaluated: ({ allowed, stepId, reason, forced }) =>
    line(
      allowed ? '✓' : '✗',
      allowed ? 'dim' : 'bad',
      `policy ${forced ? 'overridden for' : allowed ? 'allows' : 'forbids'} ${stepId ?? 'the run'}`,
      reason,
    ),
  run_suspended: ({ status, reason, until }, { moment }) =>
    line(
      '‖',
      'wait',
      status === 'awaiting_approval' ? 'waiting for approval' : 'waiting',
      parts(reason, until && `until ${moment(until)}`),
    ),
  run_resumed: ({ reason }) => line('▶', 'good', 'resumed', reason),
  run_released: ({ reason, inFlight, dueAt, error }, { at, duration }) =>
    line(
      '‖',
      error ? 'warn' : 'dim',
      `released (${reason === 'held' ? 'paused' : reason})`,
      parts(
        error && errorText(error),
        dueAt && `retry in ${duration(msBetween(at, dueAt))}`,
        inFlight.length > 0 && `running: ${inFlight.map((step) => stepName(step)).join(', ')}`,
      ),
    ),
  replay_started: ({ mode, from }) => line('⇢', 'busy', `${mode}: reusing steps of ${from}`),
  replay_finished: () => line('⇢', 'busy', 'completed steps reused'),
  cancel_requested: ({ stopKind, reason }) =>
    line('■', 'warn', `cancellation requested (${stopKind})`, reason),
  suspend_requested: ({ reason }) => line('‖', 'warn', 'suspended', reason),
  continue_requested: ({ reason }) => line('▶', 'good', 'continued', reason),
  worker_lost: ({ epoch }) =>
    line('☠', 'bad', `the worker of dispatch ${epoch} died`, 'after it had released the run'),
  orphan_detected: ({ epoch, lastHeartbeatAt, why }, { at, duration }) => {
    const silence = duration(msBetween(lastHeartbeatAt, at));
    if (why === 'answered') return line('☠', 'warn', `dispatch ${epoch} ended without releasing the run`);
    return line(
      '☠',
      'bad',
      `the worker of dispatch ${epoch} died`,
      why === 'redelivered' ? 'its task was redelivered' : `no heartbeat for ${silence}`,
    );
  },
  run_completed: () => line('✓', 'good', 'completed'),
  run_failed: ({ error }) => line('✗', 'bad', `failed: ${errorText(error)}`, error.stepId),
  run_cancelled: ({ stopKind, reason, notUndone }) =>
    line(
      '■',
      'bad',
      `cancelled (${stopKind})`,
      parts(reason, notUndone && `not undone: ${stepsOf(notUndone)}`),
    ),
  run_superseded: ({ by }) => line('⇢', 'dim', `continued in ${by}`),
  snapshot_repaired: ({ problems = [], documents = [] }) =>
    line('✎', 'warn', parts(`repaired ${problems.join(', ')}`), documents.join(', ')),
  compensation_started: (data) =>
    line('↩', 'warn', `undoing ${stepsOf(data)}`, data.error && errorText(data.error)),
  signal_received: ({ name, key, payload }) =>
    line('←', 'plain', `signal ${name}${key === undefined ? '' : ` for ${key}`}`, valueText(payload)),
  feedback_given: ({ again, feedback }) => line('↻', 'warn', `sent back: ${again.join(', ')}`, feedback),
} satisfies Partial<EventLines>;

function triggerText({ source, webhookEventId }: DataOf<'run_created'>['trigger']): string {
  return [source, webhookEventId].filter(Boolean).join(' ');
}
