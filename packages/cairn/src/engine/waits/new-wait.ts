/**
 * Waits of a step from its definition and inputs. Pure except for the author's functions, whose errors fail the step.
 */
import type { Spend } from '../../core/budget/budget.ts';
import { childRunId } from '../../core/encoding/ids.ts';
import { CairnError } from '../../core/errors.ts';
import { MAX_EVENT_KEY_CHARS } from '../../core/mailbox/limits.ts';
import type { EventDraft, EventWait, StepExecution, Wait } from '../../core/run/events.ts';
import { firstDueAt } from '../../core/run/heartbeat.ts';
import { stepKey } from '../../core/run/state.ts';
import type { Mask } from '../../core/secrets/mask.ts';
import { dataSchemaText } from '../define/data-schema.ts';
import type { Context, EventStep, WaitStep } from '../define/steps.ts';
import { detailOf } from './question.ts';

export interface Opening {
  readonly runId: string;
  readonly execution: StepExecution;
  readonly seen: Context;
  /** Epoch ms. */
  readonly now: number;
  /** Removes secrets from a question; absent: there are none. */
  readonly mask?: Mask | undefined;
}

/** @throws errors of the author's function, and CairnError for an invalid key or question */
export function waitOf(step: WaitStep, opening: Opening): Wait {
  const { runId, execution, seen, now } = opening;
  const id = `${stepKey(execution)}.${execution.revision}`;
  const wait = { id, execution, openedAt: now };
  if (step.kind === 'sleep') return { ...wait, kind: 'timer', dueAt: step.dueAt(seen, now) };
  const due = step.timeoutMs === undefined ? {} : { dueAt: now + step.timeoutMs };
  switch (step.kind) {
    case 'approval':
      return {
        ...wait,
        ...due,
        kind: 'approval',
        detailText: detailOf(step, opening),
        dataSchemaText: dataSchemaText(step.data),
      };
    case 'event': {
      const expected = step.expectedMs === undefined ? {} : { expectedAt: now + step.expectedMs };
      const key = keyOf(step.id, step.key(seen));
      const beating = heartbeatOf(step, now, due.dueAt);
      return {
        ...wait,
        ...expected,
        ...due,
        ...beating,
        kind: 'event',
        name: step.event,
        key,
        dataSchemaText: dataSchemaText(step.output),
      };
    }
    case 'child': {
      const child = { runId: childRunId(runId, id), onParentEnd: step.onParentEnd };
      return { ...wait, ...due, kind: 'child', child };
    }
  }
}

function heartbeatOf(
  { heartbeatMs }: EventStep,
  now: number,
  timeoutAt: number | undefined,
): Pick<EventWait, 'dueAt' | 'heartbeat'> {
  if (heartbeatMs === undefined) return {};
  const heartbeat = { withinMs: heartbeatMs, timeoutAt };
  return { dueAt: firstDueAt(now, heartbeat), heartbeat };
}

/** @param spent of the run's budget, by the attempt that the question ends */
export function openedDraft(wait: Wait, spent?: Spend): EventDraft {
  return { type: 'wait_opened', initiator: 'system', data: { wait, spent } };
}

function keyOf(stepId: string, key: unknown): string {
  if (typeof key === 'string' && key !== '' && key.length <= MAX_EVENT_KEY_CHARS && key.isWellFormed())
    return key;
  const what = `the key of step '${stepId}' must be a string of 1 to ${MAX_EVENT_KEY_CHARS} characters`;
  throw new CairnError('INVALID_INPUT', what, { stepId });
}
