/** Questions to people: of an approval, and of the engine about an attempt. Pure except for the author's `ask`. */
import { type Json, toJsonText } from '../../core/encoding/json.ts';
import { CairnError } from '../../core/errors.ts';
import type { StepExecution, StepQuestion } from '../../core/run/events.ts';
import { stepKey } from '../../core/run/state.ts';
import { type Mask, maskValue } from '../../core/secrets/mask.ts';
import type { ApprovalStep, Context } from '../define/steps.ts';

/** A question is stored in the snapshot and shown to a user. */
const MAX_QUESTION_BYTES = 16 * 1024;
/** Maximum number of names to ask, and characters of each. */
const MAX_ASKED = 20;
const MAX_ASKED_CHARS = 100;

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
    // The id contains the attempt, so that a repeated answer about one attempt does not answer the question about the next.
    id: `${stepKey(execution)}.${execution.revision}.${execution.attempt}.${about}`,
    kind: 'approval' as const,
    execution,
    openedAt: now,
    detailText: toJsonText(detail, 'question'),
  };
}

interface Asking {
  readonly seen: Context;
  /** Epoch ms. */
  readonly now: number;
  /** Removes secrets; absent: there are none. */
  readonly mask?: Mask | undefined;
}

/** The text of an approval's question. @throws errors of `ask`, and CairnError for an invalid question */
export function detailOf({ id, ask, escalate }: ApprovalStep, { seen, now, mask }: Asking): string {
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
