/** Value of an approval button, which carries the question and the answer from the message to the press. */
import { z } from 'zod';
import { type CairnError, invalidInput } from '../../core/errors.ts';
import type { Decision } from '../../core/run/events.ts';

/** Prefix of the `action_id` of each of Cairn's buttons. The rest is unique within a block, as Slack requires. */
export const DECIDE_ACTION = 'cairn.decide';
/** Slack's limit for the value of a button. */
export const MAX_VALUE_CHARS = 2_000;

/** Decisions that have a button. A waiver and feedback need text, which a button cannot take. */
export const BUTTON_DECISIONS = ['approve', 'reject', 'halt'] as const satisfies readonly Decision[];
export type ButtonDecision = (typeof BUTTON_DECISIONS)[number];

/** Longer than any run id, step key or wait id. */
const MAX_ID_CHARS = 500;

const id = z.string().min(1).max(MAX_ID_CHARS);
const DecisionValue = z.strictObject({
  runId: id,
  stepId: id,
  /** Required, so that a press does not answer a later question than the one on the screen. */
  waitId: id,
  decision: z.enum(BUTTON_DECISIONS),
});

export type DecisionValue = z.infer<typeof DecisionValue>;

/** Returns true if a press with this `action_id` is about an approval. */
export function isDecideAction(actionId: string): boolean {
  return actionId === DECIDE_ACTION || actionId.startsWith(`${DECIDE_ACTION}.`);
}

/** The text for a button; undefined if it is too long for Slack. */
export function valueText(value: DecisionValue): string | undefined {
  const { runId, stepId, waitId, decision } = value;
  const text = JSON.stringify({ runId, stepId, waitId, decision });
  return text.length <= MAX_VALUE_CHARS ? text : undefined;
}

/** @throws CairnError INVALID_INPUT for a text that {@link valueText} did not create */
export function readValue(text: string | undefined): DecisionValue {
  if (text === undefined || text.length > MAX_VALUE_CHARS) throw unreadable();
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw unreadable(cause);
  }
  const parsed = DecisionValue.safeParse(value);
  if (!parsed.success) throw unreadable(parsed.error);
  return parsed.data;
}

function unreadable(cause?: unknown): CairnError {
  return invalidInput('actions.0.value', 'the button value was not created by Cairn', { cause });
}
