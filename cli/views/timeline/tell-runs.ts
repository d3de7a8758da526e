/** What events of the run as a whole say, in words. Pure. */
import { duration, moment } from '../../render/time.ts';
import { errorText, line, parts, stepName } from './line.ts';
import type { SeenData } from './seen.ts';

export const RUN_LINES = {
  run_created: (data: SeenData<'run_created'>) =>
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
  run_claimed: ({ epoch }: SeenData<'run_claimed'>) => line('▶', 'dim', `drive ${epoch} takes the run`),
  run_started: ({ deadlineAt }: SeenData<'run_started'>) =>
    line('▶', 'dim', 'started', deadlineAt && `must end by ${moment(deadlineAt)}`),
  policy_evaluated: ({ allowed, stepId, reason }: SeenData<'policy_evaluated'>) =>
    line(
      allowed ? '✓' : '✗',
      allowed ? 'dim' : 'bad',
      `policy ${allowed ? 'allows' : 'forbids'} ${stepId ?? 'the run'}`,
      reason,
    ),
  run_suspended: ({ status, reason, until }: SeenData<'run_suspended'>) =>
    line('‖', 'warn', status, parts(reason, until && `until ${moment(until)}`)),
  run_resumed: ({ reason }: SeenData<'run_resumed'>) => line('▶', 'good', 'came back', reason),
  run_released: ({ reason, inFlight, dueAt }: SeenData<'run_released'>, at: string) =>
    line(
      '‖',
      'dim',
      `let go (${reason})`,
      parts(
        dueAt && `again in ${duration(Date.parse(dueAt) - Date.parse(at))}`,
        inFlight.length > 0 && `under way: ${inFlight.map((step) => stepName(step)).join(', ')}`,
      ),
    ),
  replay_started: ({ mode, from }: SeenData<'replay_started'>) =>
    line('⇢', 'busy', `${mode}: takes over from ${from}`),
  replay_finished: () => line('⇢', 'busy', 'all that is reused is taken over'),
  cancel_requested: ({ stopKind, reason }: SeenData<'cancel_requested'>) =>
    line('■', 'warn', `cancel asked for (${stopKind})`, reason),
  orphan_detected: ({ epoch, lastHeartbeatAt }: SeenData<'orphan_detected'>, at: string) =>
    line(
      '☠',
      'bad',
      `drive ${epoch} died`,
      `no sign of life for ${duration(Date.parse(at) - Date.parse(lastHeartbeatAt))}`,
    ),
  run_completed: () => line('✓', 'good', 'completed'),
  run_failed: ({ error }: SeenData<'run_failed'>) =>
    line('✗', 'bad', `failed: ${errorText(error)}`, error.stepId),
  run_cancelled: ({ stopKind, reason }: SeenData<'run_cancelled'>) =>
    line('■', 'bad', `cancelled (${stopKind})`, reason),
  run_superseded: ({ by }: SeenData<'run_superseded'>) => line('⇢', 'dim', `goes on as ${by}`),
  snapshot_repaired: ({ problems = [], documents = [] }: SeenData<'snapshot_repaired'>) =>
    line('✎', 'warn', parts(`repaired ${problems.join(', ')}`), documents.join(', ')),
};

function triggerText({ source, userId, webhookEventId }: SeenData<'run_created'>['trigger']): string {
  return [source, webhookEventId, userId && `(${userId})`].filter(Boolean).join(' ');
}
