/**
 * Decides what an answer to an approval does: it decides the open question, repeats an earlier decision, or is refused. Also decides
 * which steps run again if the answer sends steps back. Roles are checked before, by the route (`api/openapi/paths/runs.ts`).
 *
 * Must not: know how the outcome is written into the journal (operations/approvals).
 */
import { CairnError, invalidInput } from '../errors.ts';
import type { Graph } from '../graph/graph.ts';
import type { BudgetQuestion, Decision, EffectQuestion, StepQuestion, Wait } from '../run/events.ts';
import { awaitedText } from '../run/now/waits-for.ts';
import { type Decided, isOver, type RunState, stepKey } from '../run/state.ts';

/** Most revisions of a step: each costs a full round. */
export const MAX_REVISIONS = 100;
/**
 * Most UTF-8 bytes of all feedback in a snapshot: a quarter of a Firestore document, so that steps and waits still fit.
 */
export const MAX_KEPT_FEEDBACK_BYTES = 256 * 1024;
/** Longest part of a step name from a request that a message repeats. */
const NAME_CHARS = 120;

interface ApprovalAnswer {
  /** Key of the step: its id, or `id[itemKey]`. */
  readonly step: string;
  /** Id of the step's question; absent: the one that is open, else the last one. */
  readonly waitId?: string | undefined;
  readonly decision: Decision;
  /** SHA-256 of the rest of the answer: note, feedback, steps, raise and data. */
  readonly payloadHash: string;
}

/** A question that takes a decision; an effect is resolved instead. */
export type DecidableQuestion = StepQuestion | BudgetQuestion;

export type ApprovalDecision =
  | { readonly kind: 'decide'; readonly wait: DecidableQuestion }
  | { readonly kind: 'repeated'; readonly decided: Decided };

/**
 * @param now epoch ms
 * @throws CairnError APPROVAL_DECIDED, APPROVAL_EXPIRED, RUN_TERMINAL_STATE, RUN_INVALID_TRANSITION (the step waits for
 *   something else, or the run is being ended), NOT_FOUND (the step was never asked about)
 */
export function approvalDecision(state: RunState, answer: ApprovalAnswer, now: number): ApprovalDecision {
  const waits = state.waits.filter(({ execution }) => stepKey(execution) === answer.step);
  const open = waits.filter((wait) => wait.kind === 'approval').find(({ id }) => isAbout(answer, id));
  const decided = state.decisions.find(
    ({ stepId, waitId }) => stepId === answer.step && isAbout(answer, waitId),
  );
  if (open) {
    // The request may repeat the earlier one or answer the question that followed. A decision that would be harmful twice is
    // refused.
    if (decided && isSame(decided, answer) && decided.waitId !== open.id) {
      if (answer.decision === 'retry_with_feedback') return { kind: 'repeated', decided };
      if (open.purpose === 'doubt' || open.purpose === 'budget') throw decidedError(decided, answer, open);
    }
    return { kind: 'decide', wait: decidable(state, open, now) };
  }
  if (decided) return { kind: 'repeated', decided: repeated(decided, answer) };
  throw notAsked(state, answer, waits);
}

type Question = DecidableQuestion | EffectQuestion;

/** An answer without `waitId` may mean any question of the step. */
function isAbout({ waitId }: ApprovalAnswer, id: string): boolean {
  return waitId === undefined || waitId === id;
}

function isSame({ decision, payloadHash }: Decided, answer: ApprovalAnswer): boolean {
  return decision === answer.decision && payloadHash === answer.payloadHash;
}

function decidable(state: RunState, wait: Question, now: number): DecidableQuestion {
  const step = stepKey(wait.execution);
  if (wait.purpose === 'effect') {
    const { effectId } = wait;
    throw new CairnError(
      'EFFECT_IN_DOUBT',
      `'${step}' asks for the outcome of an effect, not for a decision`,
      {
        stepId: step,
        help: `Resolve the effect: POST /v1/runs/${state.id}/effects/${effectId}/resolve.`,
        details: { effectId },
      },
    );
  }
  // Refuses a late answer even if no dispatch has recorded the expiry yet.
  if (wait.dueAt !== undefined && now >= wait.dueAt) throw expiredError(step, wait.id, wait.dueAt);
  if (state.cancellation || state.compensating) {
    const why = state.cancellation ? 'is being cancelled' : 'has failed and is running compensations';
    throw new CairnError('RUN_INVALID_TRANSITION', `the run ${why}: '${step}' can no longer be decided`, {
      stepId: step,
      help: 'Read the run again: it is ending.',
    });
  }
  return wait;
}

function repeated(decided: Decided, answer: ApprovalAnswer): Decided {
  const { decision, waitId, at } = decided;
  if (decision === 'expired') throw expiredError(answer.step, waitId, at);
  if (isSame(decided, answer)) return decided;
  throw decidedError(decided, answer);
}

/** @param open the open question, which the answer does not name but may mean */
function decidedError(decided: Decided, answer: ApprovalAnswer, open?: Wait): CairnError {
  const { decision, waitId, actor, at } = decided;
  const by = actor === undefined ? '' : ` by ${actor}`;
  const words =
    decision === answer.decision
      ? ' with a different note, feedback, choice of steps, raise or data'
      : ` as '${decision}'`;
  return new CairnError('APPROVAL_DECIDED', `'${answer.step}' was decided${by}${open ? ' before' : words}`, {
    stepId: answer.step,
    help: open && `To answer the question that is open now, name it: waitId '${open.id}'.`,
    details: { waitId, decision, decidedBy: actor, decidedAt: new Date(at).toISOString() },
  });
}

/** @param at time of the expiry, epoch ms */
function expiredError(stepId: string, waitId: string, at: number): CairnError {
  const expiredAt = new Date(at).toISOString();
  return new CairnError('APPROVAL_EXPIRED', `'${stepId}' could be decided before ${expiredAt}`, {
    stepId,
    details: { waitId, expiredAt },
  });
}

function notAsked(state: RunState, answer: ApprovalAnswer, waits: readonly Wait[]): CairnError {
  const step = answer.step.slice(0, NAME_CHARS);
  const [other] = waits;
  if (isOver(state) && state.steps.has(answer.step)) {
    return new CairnError(
      'RUN_TERMINAL_STATE',
      `the run is ${state.status}: '${step}' can no longer be decided`,
      { stepId: step, details: { status: state.status } },
    );
  }
  if (other && other.kind !== 'approval') {
    return new CairnError(
      'RUN_INVALID_TRANSITION',
      `'${step}' waits for ${awaitedText(other)}, not for a decision`,
      { stepId: step },
    );
  }
  const newest = other?.id ?? state.decisions.find(({ stepId }) => stepId === answer.step)?.waitId;
  if (newest !== undefined) {
    return new CairnError('NOT_FOUND', `the last question of '${step}' is '${newest}', not the one named`, {
      stepId: step,
      field: 'waitId',
      details: { waitId: newest },
    });
  }
  return new CairnError('NOT_FOUND', `the run has not asked for a decision on '${step}'`, {
    stepId: step,
    help: 'Read the run: it lists the questions that are open.',
  });
}

/** The part of a graph that runs again. */
interface SentBackSteps {
  /** The named or default steps, in graph order. */
  readonly steps: readonly string[];
  /** These steps and all their dependents, in graph order. */
  readonly again: readonly string[];
}

/**
 * @param approval id of the step that sends back
 * @param named steps before it; default: those it needs
 * @throws CairnError INVALID_INPUT naming a step that is not before the approval, RUN_INVALID_TRANSITION if a step was
 *   sent back too often
 */
export function sentBackBy(
  graph: Graph,
  state: RunState,
  { approval, named }: { readonly approval: string; readonly named?: readonly string[] | undefined },
): SentBackSteps {
  const wanted = new Set(named ?? graph.node(approval).needs);
  if (wanted.size === 0) {
    throw notBefore(
      approval,
      `'${approval}' needs no steps, so none can be sent back`,
      'Approve, reject or halt instead.',
    );
  }
  for (const id of wanted) {
    if (!graph.has(id) || !graph.descendants([id]).has(approval)) {
      const name = id.slice(0, NAME_CHARS);
      throw notBefore(name, `'${approval}' does not depend on step '${name}'`);
    }
  }
  const following = graph.descendants(wanted);
  const again = graph.order.filter((id) => wanted.has(id) || following.has(id));
  for (const id of again) {
    if ((state.steps.get(id)?.revision ?? 0) < MAX_REVISIONS) continue;
    throw new CairnError('RUN_INVALID_TRANSITION', `'${id}' was sent back ${MAX_REVISIONS - 1} times`, {
      stepId: id,
      help: 'Approve, reject or halt. A fork of the run starts with a new count.',
    });
  }
  return { steps: again.filter((id) => wanted.has(id)), again };
}

/** @throws CairnError PAYLOAD_TOO_LARGE */
export function assertFeedbackFits(state: RunState, text: string): void {
  const keptBytes = state.feedback.reduce((bytes, entry) => bytes + Buffer.byteLength(entry.text), 0);
  if (keptBytes + Buffer.byteLength(text) <= MAX_KEPT_FEEDBACK_BYTES) return;
  throw new CairnError('PAYLOAD_TOO_LARGE', `the run already holds ${keptBytes} bytes of feedback`, {
    field: 'feedback',
  });
}

function notBefore(stepId: string, problem: string, help?: string): CairnError {
  return invalidInput('steps', problem, { stepId, help });
}
