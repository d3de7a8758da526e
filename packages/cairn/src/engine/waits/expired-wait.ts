/** Events at the expiry of a wait. Pure. */
import { durationText } from '../../core/duration.ts';
import { canonicalJson } from '../../core/encoding/json.ts';
import type { EventDraft, RecordedError, TimerWait, Wait } from '../../core/run/events.ts';
import { missedHeartbeat, type WaitWithHeartbeat } from '../../core/run/heartbeat.ts';
import { stepKey } from '../../core/run/state.ts';
import { NO_OUTPUT, outputFrom } from '../recording/output.ts';
import { answerDrafts, budgetAnswerDrafts, type EndOfWait, expiryDrafts } from './end-of-wait.ts';

const UNATTENDED = canonicalJson({ decision: 'approve' });

export function expiredWaitDrafts(end: EndOfWait): EventDraft[] {
  const { step, wait } = end;
  if (wait.kind === 'timer') return answerDrafts(end, { initiator: 'timeout' }, NO_OUTPUT);
  // The next day has a new budget.
  if (wait.day !== undefined) return budgetAnswerDrafts(end, { initiator: 'timeout' });
  if (missedHeartbeat(wait)) return expiryDrafts(end, heartbeatMissed(wait));
  if (step.kind !== 'approval') return expiryDrafts(end, tooLate(wait, 'STEP_TIMEOUT'));
  switch (step.onExpiry) {
    case 'fail':
      return expiryDrafts(end, tooLate(wait, 'APPROVAL_EXPIRED'));
    case 'approve':
      return expiryDrafts(end, outputFrom(UNATTENDED));
    case 'halt': {
      const reason = tooLate(wait, 'APPROVAL_EXPIRED').message;
      return [
        { type: 'wait_expired', initiator: 'timeout', data: { waitId: wait.id } },
        { type: 'cancel_requested', initiator: 'timeout', data: { stopKind: 'halt', reason } },
      ];
    }
  }
}

function heartbeatMissed({ execution, heartbeat: { lastAt, withinMs } }: WaitWithHeartbeat): RecordedError {
  const after = lastAt === undefined ? 'the wait was opened' : 'the last one';
  const message = `no heartbeat arrived within ${durationText(withinMs)} after ${after}`;
  return { code: 'HEARTBEAT_MISSED', message, stepId: stepKey(execution), retryable: false };
}

const MISSING = {
  approval: 'nobody decided',
  event: 'no event came',
  child: 'the child run did not end',
} as const;

function tooLate(
  { kind, execution, dueAt, openedAt }: Exclude<Wait, TimerWait>,
  code: string,
): RecordedError {
  const stepId = stepKey(execution);
  const waited = (dueAt ?? openedAt) - openedAt;
  return { code, message: `${MISSING[kind]} within ${durationText(waited)}`, stepId, retryable: false };
}
