/** Each event as a line of text. Pure. */
import { dayResumption, stepKey } from '@cairn/client';
import type { EventType } from 'cairn/journal-events';
import { duration } from '../../../parts/time.ts';
import type { DataOf, RunEvent } from '../live/events.ts';

export interface Line {
  readonly mark: string;
  readonly tone: string;
  readonly text: string;
  readonly more?: string | undefined;
}

type Describe<T extends EventType> = (data: DataOf<T>, at: string, actor: string | undefined) => Line;

/** One for each type: a new type without words does not compile. */
const LINES: { readonly [T in EventType]: Describe<T> } = {
  run_created: ({ trigger, type, planVersion, source }) =>
    line(
      '●',
      '',
      `Created by ${trigger.source}`,
      `${type} v${planVersion}${source ? `, ${source.mode} of ${source.runId}` : ''}`,
    ),
  run_claimed: ({ epoch }) => line('▶', 'quiet', `Dispatch ${epoch} claimed the run`),
  run_started: () => line('▶', 'quiet', 'Started'),
  policy_evaluated: ({ allowed, stepId, reason, forced }) =>
    line(
      allowed ? '✓' : '✕',
      allowed ? 'quiet' : 'bad',
      `Policy ${forced ? 'overridden for' : allowed ? 'allows' : 'forbids'} ${stepId ?? 'the run'}`,
      reason,
    ),
  run_suspended: ({ status, reason }) =>
    line('‖', 'wait', status === 'awaiting_approval' ? 'Waiting for approval' : 'Waiting', reason),
  run_resumed: ({ reason }) => line('▶', 'good', 'Resumed', reason),
  run_released: ({ reason, inFlight, error }) =>
    line(
      '‖',
      error ? 'warn' : 'quiet',
      `Dispatch released the run (${reason})`,
      error ? `${error.code}: ${error.message}` : inFlight.map(stepKey).join(', '),
    ),
  replay_started: ({ mode, from }) => line('⇢', 'live', `Reusing steps of ${from}`, mode),
  replay_finished: () => line('⇢', 'live', 'Completed steps reused'),
  suspend_requested: ({ reason }) => line('‖', 'warn', 'Suspended', reason),
  continue_requested: ({ reason }) => line('▶', 'good', 'Continued', reason),
  cancel_requested: ({ stopKind, reason }) =>
    line('⊘', 'warn', `Cancellation requested (${stopKind})`, reason),
  worker_lost: ({ epoch }) =>
    line('↯', 'bad', `The worker of dispatch ${epoch} died`, 'after it had released the run'),
  orphan_detected: ({ epoch, lastHeartbeatAt, why }, at) =>
    why === 'answered'
      ? line('↯', 'warn', `Dispatch ${epoch} ended without releasing the run: interrupted`)
      : line(
          '↯',
          'bad',
          `The worker of dispatch ${epoch} died: interrupted`,
          why === 'redelivered'
            ? 'its task was redelivered'
            : `no heartbeat for ${between(lastHeartbeatAt, at)}`,
        ),
  run_completed: () => line('✓', 'good', 'Completed'),
  run_failed: ({ error }) => line('✕', 'bad', `Failed: ${error.code}`, error.message),
  run_cancelled: ({ stopKind, reason, notUndone }) =>
    notUndone
      ? line('⊘', 'bad', `Cancelled (${stopKind}), not undone: ${stepsText(notUndone)}`, reason)
      : line('⊘', 'quiet', `Cancelled (${stopKind})`, reason),
  run_superseded: ({ by }) => line('⇢', 'quiet', `Continued in ${by}`),
  snapshot_repaired: ({ problems }) => line('✎', 'warn', 'Repaired', problems?.join(', ')),
  step_started: (data) => line('▸', 'live', `${stepName(data)} started`),
  step_succeeded: (data) => line('✓', 'good', stepName(data), duration(data.durationMs)),
  step_degraded: (data) => line('≈', 'good', `${stepName(data)} degraded`, data.reason),
  step_skipped: (data) => line('–', 'quiet', `${stepName(data)} skipped`, data.reason),
  step_reused: (data) => line('↺', 'good', `${stepName(data)} reused`, `from ${data.from.runId}`),
  step_failed: (data) => line('✕', 'bad', `${stepName(data)} failed: ${data.error.code}`, data.error.message),
  step_retry_scheduled: (data, at) =>
    line(
      '↻',
      data.polled || data.budget ? '' : 'warn',
      `${stepName(data)} ${retryText(data, at)}`,
      data.error.message,
    ),
  step_compensated: (data) => line('↩', 'warn', `${stepKey(data)} undone`),
  compensation_started: (data) => line('↩', 'warn', `Undoing ${stepsText(data)}`),
  compensation_failed: (data) => line('✕', 'bad', `${stepKey(data)} undo failed`, data.error.message),
  wait_opened: ({ wait }) =>
    line('‖', 'wait', `${stepKey(wait.execution)} ${WAITS[wait.kind]}`, waitsFor(wait)),
  wait_resolved: ({ waitId, decision }, _at, actor) => {
    const why = dayResumption({ waitId, decision }, actor);
    return why === undefined
      ? line('←', 'good', `${waitId}: ${decision?.replaceAll('_', ' ') ?? 'answered'}`)
      : line('▸', 'good', `${waitId}: resumed`, why);
  },
  wait_heartbeat: ({ waitId }) => line('♥', '', `${waitId}: heartbeat`),
  wait_expired: ({ waitId }) => line('!', 'bad', `${waitId}: timed out`),
  signal_received: ({ name, key }) => line('←', '', `Signal ${name}`, key),
  feedback_given: ({ again, feedback }) => line('↻', 'warn', `Sent back: ${again.join(', ')}`, feedback),
  effect_attempted: (data) =>
    data.presumed
      ? line('?', 'wait', `${stepKey(data)} may have called ${data.capabilityId} before the restore`)
      : line('→', '', `${stepKey(data)} calls ${data.capabilityId}`),
  effect_settled: (data) =>
    line(
      '←',
      EFFECTS[data.outcome],
      `${stepKey(data)}: ${data.capabilityId} ${data.outcome.replace('_', ' ')}`,
    ),
};

const WAITS = {
  approval: 'waits for approval',
  event: 'waits for an event',
  timer: 'sleeps',
  child: 'waits for a child run',
} as const;
const EFFECTS = {
  recorded: 'good',
  reused: 'good',
  failed: 'bad',
  in_doubt: 'bad',
  blocked: 'warn',
} as const;

/** A type that is newer than this page is named as it is. */
export function lineOf({ type, data, at, actor }: RunEvent): Line {
  const describe = Object.hasOwn(LINES, type)
    ? (LINES[type as EventType] as (data: unknown, at: string, actor: string | undefined) => Line)
    : undefined;
  return describe ? describe(data, at, actor) : line('·', '', type.replaceAll('_', ' '));
}

function line(mark: string, tone: string, text: string, more?: string): Line {
  return more === undefined || more === '' ? { mark, tone, text } : { mark, tone, text, more };
}

function retryText(
  { budget, polled, whenRoom, retryAt }: DataOf<'step_retry_scheduled'>,
  at: string,
): string {
  if (budget) return 'waits for the budget';
  if (polled) return `polled, condition not met; next poll in ${between(at, retryAt)}`;
  if (whenRoom) return 'waits until fewer questions are open';
  return `failed; retry in ${between(at, retryAt)}`;
}

/** Keys of steps, and how many there are beside them. */
function stepsText({
  steps,
  count = steps.length,
}: {
  readonly steps: readonly string[];
  readonly count?: number | undefined;
}): string {
  return `${steps.join(', ')}${count > steps.length ? ` and ${count - steps.length} more` : ''}`;
}

function stepName(ref: {
  readonly stepId: string;
  readonly itemKey?: string | undefined;
  readonly attempt: number;
  readonly revision: number;
}): string {
  const which = [
    ...(ref.attempt > 1 ? [`attempt ${ref.attempt}`] : []),
    ...(ref.revision > 1 ? [`revision ${ref.revision}`] : []),
  ];
  return which.length === 0 ? stepKey(ref) : `${stepKey(ref)} (${which.join(', ')})`;
}

function waitsFor({ kind, name, key, child, dueAt, openedAt }: DataOf<'wait_opened'>['wait']): string {
  const what = kind === 'event' ? `${name ?? ''} for ${key ?? ''}` : (child?.runId ?? '');
  const until = dueAt === undefined ? '' : `at most ${between(openedAt, dueAt)}`;
  return [what, until].filter(Boolean).join(', ');
}

function between(from: string, to: string): string {
  return duration(Math.max(0, Date.parse(to) - Date.parse(from)));
}
