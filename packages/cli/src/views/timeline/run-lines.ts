/** Text of events of the run as a whole. Pure. */

import { duration } from '@cairn/client';
import type { DataOf } from 'cairn/api/events';
import { moment } from '../../render/time.ts';
import { errorText, line, parts, stepName, stepsOf } from './line.ts';

export const RUN_LINES = {
  run_created: (data: DataOf<'run_created'>) =>
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
  run_claimed: ({ epoch }: DataOf<'run_claimed'>) => line('▶', 'dim', `dispatch ${epoch} claimed the run`),
  run_started: ({ deadlineAt }: DataOf<'run_started'>) =>
    line('▶', 'dim', 'started', deadlineAt && `deadline ${moment(deadlineAt)}`),
  policy_evaluated: ({ allowed, stepId, reason }: DataOf<'policy_evaluated'>) =>
    line(
      allowed ? '✓' : '✗',
      allowed ? 'dim' : 'bad',
      `policy ${allowed ? 'allows' : 'forbids'} ${stepId ?? 'the run'}`,
      reason,
    ),
  run_suspended: ({ status, reason, until }: DataOf<'run_suspended'>) =>
    line('‖', 'warn', status, parts(reason, until && `until ${moment(until)}`)),
  run_resumed: ({ reason }: DataOf<'run_resumed'>) => line('▶', 'good', 'resumed', reason),
  run_released: ({ reason, inFlight, dueAt, error }: DataOf<'run_released'>, at: string) =>
    line(
      '‖',
      'dim',
      `released (${reason})`,
      parts(
        error && errorText(error),
        dueAt && `retry in ${duration(Date.parse(dueAt) - Date.parse(at))}`,
        inFlight.length > 0 && `running: ${inFlight.map((step) => stepName(step)).join(', ')}`,
      ),
    ),
  replay_started: ({ mode, from }: DataOf<'replay_started'>) =>
    line('⇢', 'busy', `${mode}: reusing steps of ${from}`),
  replay_finished: () => line('⇢', 'busy', 'completed steps reused'),
  cancel_requested: ({ stopKind, reason }: DataOf<'cancel_requested'>) =>
    line('■', 'warn', `cancellation requested (${stopKind})`, reason),
  suspend_requested: ({ reason }: DataOf<'suspend_requested'>) => line('‖', 'warn', 'suspended', reason),
  continue_requested: ({ reason }: DataOf<'continue_requested'>) => line('▶', 'good', 'continued', reason),
  worker_lost: ({ epoch }: DataOf<'worker_lost'>) =>
    line('☠', 'bad', `the worker of dispatch ${epoch} died`, 'after it had released the run'),
  orphan_detected: ({ epoch, lastHeartbeatAt, why }: DataOf<'orphan_detected'>, at: string) => {
    const silence = duration(Date.parse(at) - Date.parse(lastHeartbeatAt));
    if (why === 'answered') return line('☠', 'warn', `dispatch ${epoch} ended without releasing the run`);
    return line(
      '☠',
      'bad',
      `the worker of dispatch ${epoch} died`,
      why === 'redelivered' ? 'its task was redelivered' : `no heartbeat for ${silence}`,
    );
  },
  run_completed: () => line('✓', 'good', 'completed'),
  run_failed: ({ error }: DataOf<'run_failed'>) =>
    line('✗', 'bad', `failed: ${errorText(error)}`, error.stepId),
  run_cancelled: ({ stopKind, reason, notUndone }: DataOf<'run_cancelled'>) =>
    line(
      '■',
      'bad',
      `cancelled (${stopKind})`,
      parts(reason, notUndone && `not undone: ${stepsOf(notUndone)}`),
    ),
  run_superseded: ({ by }: DataOf<'run_superseded'>) => line('⇢', 'dim', `continued in ${by}`),
  snapshot_repaired: ({ problems = [], documents = [] }: DataOf<'snapshot_repaired'>) =>
    line('✎', 'warn', parts(`repaired ${problems.join(', ')}`), documents.join(', ')),
};

function triggerText({ source, webhookEventId }: DataOf<'run_created'>['trigger']): string {
  return [source, webhookEventId].filter(Boolean).join(' ');
}
