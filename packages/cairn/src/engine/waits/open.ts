/**
 * Waits of a step from its definition and inputs. Pure except for the author's functions, whose errors fail the step.
 */
import type { Cost } from '../../core/budget/budget.ts';
import { childRunId } from '../../core/encoding/ids.ts';
import { type Json, toJsonText } from '../../core/encoding/json.ts';
import { CairnError } from '../../core/errors.ts';
import type { EventDraft, EventWait, StepExecution, StepQuestion, Wait } from '../../core/run/events.ts';
import { firstDueAt } from '../../core/run/heartbeat.ts';
import { stepKey } from '../../core/run/state.ts';
import { type Mask, maskValue } from '../../core/secrets/mask.ts';
import { dataSchemaText } from '../define/data-schema.ts';
import type { ApprovalStep, Context, EventStep, WaitStep } from '../define/steps.ts';

/** A question is stored in the snapshot and shown to a user. */
const MAX_QUESTION_BYTES = 16 * 1024;
/** A correlation key is something like a commit hash or an order number. */
const MAX_KEY_CHARS = 500;
/** Maximum number of names to ask, and characters of each. */
const MAX_ASKED = 20;
const MAX_ASKED_CHARS = 100;

export interface Opening {
  readonly runId: string;
  readonly execution: StepExecution;
  readonly seen: Context;
  /** Epoch ms. */
  readonly now: number;
  /** Removes secrets from a question; absent: there are none. */
  readonly mask?: Mask | undefined;
}

/** @throws what the author's function throws, and CairnError for a key or question that cannot be one */
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
export function openedDraft(wait: Wait, spent?: Cost): EventDraft {
  return { type: 'wait_opened', initiator: 'system', data: { wait, spent } };
}

/** The reason why a step that must not run twice may have run: its worker died, or the database was restored. */
type Doubt = 'cut_off' | 'restored';

const DOUBTS: Readonly<Record<Doubt, string>> = {
  cut_off: 'was running when its worker died and is not idempotent: it may have acted',
  restored: 'is not idempotent and may have run before the database was restored',
};

/** The question about a step that must not be repeated unasked. */
export function doubtOf(execution: StepExecution, now: number, why: Doubt = 'cut_off'): StepQuestion {
  const question = `Step '${stepKey(execution)}' ${DOUBTS[why]}. Run it again, treat it as completed or fail it?`;
  return { ...questionAbout(execution, 'doubt', { question }, now), purpose: 'doubt' };
}

/** Members of a question that the engine asks about an attempt. */
export function questionAbout(
  execution: StepExecution,
  about: 'doubt' | 'effect' | 'budget' | 'day',
  detail: { readonly question: string } & Readonly<Record<string, Json>>,
  now: number,
) {
  return {
    // With the attempt: an answer about one that is sent again must not be taken for one about the next.
    id: `${stepKey(execution)}.${execution.revision}.${execution.attempt}.${about}`,
    kind: 'approval' as const,
    execution,
    openedAt: now,
    detailText: toJsonText(detail, 'question'),
  };
}

function detailOf({ id, ask, escalate }: ApprovalStep, { seen, now, mask }: Opening): string {
  const question = ask(seen);
  const detail = typeof question === 'string' ? { question: question } : { ...Object(question) };
  if (typeof detail.question !== 'string' || detail.question === '')
    throw new CairnError(
      'INVALID_INPUT',
      `step '${id}' must return a question: a string, or an object with 'question'`,
      { stepId: id },
    );
  if (detail.to !== undefined && !areNames(detail.to))
    throw new CairnError(
      'INVALID_INPUT',
      `'to' of the question of step '${id}' must list 1 to ${MAX_ASKED} names of 1 to ${MAX_ASKED_CHARS} characters`,
      { stepId: id },
    );
  const escalation = escalate && {
    escalation: { at: new Date(now + escalate.afterMs).toISOString(), text: escalate.text },
  };
  const what = `question of step '${id}'`;
  const whole = toJsonText({ ...detail, ...escalation }, what);
  const text = mask ? toJsonText(maskValue(JSON.parse(whole) as Json, mask), what) : whole;
  if (Buffer.byteLength(text) <= MAX_QUESTION_BYTES) return text;
  throw new CairnError(
    'PAYLOAD_TOO_LARGE',
    `the question of step '${id}' has more than ${MAX_QUESTION_BYTES} bytes`,
  );
}

function areNames(given: unknown): boolean {
  return (
    Array.isArray(given) &&
    given.length > 0 &&
    given.length <= MAX_ASKED &&
    given.every((name) => typeof name === 'string' && name.trim() !== '' && name.length <= MAX_ASKED_CHARS)
  );
}

function keyOf(stepId: string, key: unknown): string {
  if (typeof key === 'string' && key !== '' && key.length <= MAX_KEY_CHARS && key.isWellFormed()) return key;
  const what = `the key of step '${stepId}' must be a string of 1 to ${MAX_KEY_CHARS} characters`;
  throw new CairnError('INVALID_INPUT', what, { stepId });
}
