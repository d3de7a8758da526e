/**
 * What a run asks people, as an inbox shows it: each question with the answers that would be taken. Pure.
 *
 * Must not: answer anything; see operations/approvals, operations/effects and operations/successors.
 */
import { type EffectRecord, RESOLUTIONS, type Resolution } from '../../core/effects/effect.ts';
import { optional } from '../../core/optional.ts';
import { leavesDoubt, questionsOf } from '../../core/run/asking.ts';
import { DECISIONS, type Decision, type Wait } from '../../core/run/events.ts';
import { type RunState, stepKey } from '../../core/run/state.ts';
import type { WorkflowRegistry } from '../../engine/define/registry.ts';

/**
 * `approval`: a step asks. `step_in_doubt`: a crash cut off a step that must not run twice. `effect_in_doubt`: nobody knows
 * what became of an outside action, or it may not be repeated unasked. `left_in_doubt`: the former, of a run that has ended.
 */
export const QUESTION_KINDS = ['approval', 'step_in_doubt', 'effect_in_doubt', 'left_in_doubt'] as const;
export type QuestionKind = (typeof QUESTION_KINDS)[number];

/** A decision (`…/approvals/{step}`), a resolution (`…/effects/{effectId}/resolve`), or `…/resume`. */
export const ANSWERS = [...DECISIONS, ...RESOLUTIONS, 'resume'] as const;
export type Answer = Decision | Resolution | 'resume';

export interface OpenQuestion {
  readonly kind: QuestionKind;
  /** Key of the step. */
  readonly step: string;
  /** Epoch ms. */
  readonly openedAt: number;
  /** Absent: the run has ended, and waits for nothing. */
  readonly wait?: Wait;
  readonly effectId?: string;
  readonly capabilityId?: string;
  readonly answers: readonly Answer[];
}

/** Questions of one run, the oldest first; what cannot be answered any more is none. @param now epoch ms */
export function openQuestions(run: RunState, registry: WorkflowRegistry, now: number): OpenQuestion[] {
  if (leavesDoubt(run)) return leftInDoubt(run, registry);
  const open = questionsOf(run).filter(({ dueAt }) => dueAt === undefined || now < dueAt);
  return open
    .map((wait) => questionOf(run, wait, registry))
    .sort((a, b) => a.openedAt - b.openedAt || (a.step < b.step ? -1 : 1));
}

/** Whether it is still unknown what became of the action, and nobody else is about to find out. */
export function isLeft({ status, blockedBy, resolution, runId }: EffectRecord, run: RunState): boolean {
  // Another run of the lineage has begun to find out: the row is its business now.
  if (runId !== run.id) return false;
  return (
    status === 'attempted' || (status === 'blocked' && blockedBy === 'doubt' && resolution === undefined)
  );
}

function leftInDoubt(run: RunState, registry: WorkflowRegistry): OpenQuestion[] {
  const openedAt = run.completedAt ?? run.updatedAt;
  // What has completed cannot be resumed, nor can a version that is not deployed.
  const isResumable = run.status !== 'completed' && registry.pinned(run.type, run.planVersion) !== undefined;
  const answers = isResumable ? (['resume'] as const) : [];
  return run.effects.map(({ effectId, step, capabilityId }) => ({
    kind: 'left_in_doubt',
    step,
    openedAt,
    effectId,
    capabilityId,
    answers,
  }));
}

function questionOf(run: RunState, wait: Wait, registry: WorkflowRegistry): OpenQuestion {
  const question = { step: stepKey(wait.execution), openedAt: wait.openedAt, wait };
  const workflow = registry.pinned(run.type, run.planVersion);
  if (wait.purpose === 'effect') {
    const { effectId } = wait;
    const known = run.effects.find((open) => open.effectId === effectId);
    return {
      ...question,
      kind: 'effect_in_doubt',
      ...optional('effectId', effectId),
      ...optional('capabilityId', known?.capabilityId),
      // What the failure of its step means stands in its definition.
      answers: workflow ? RESOLUTIONS : RESOLUTIONS.filter((outcome) => outcome !== 'failed'),
    };
  }
  const isDoubt = wait.purpose === 'doubt';
  const needs = workflow?.graph.has(wait.execution.stepId)
    ? workflow.graph.node(wait.execution.stepId).needs
    : [];
  // What is in doubt cannot be sent back, nor can steps where there are none before it.
  const canSendBack = !isDoubt && needs.length > 0;
  const decisions = DECISIONS.filter((decision) => decision !== 'retry_with_feedback' || canSendBack);
  return {
    ...question,
    kind: isDoubt ? 'step_in_doubt' : 'approval',
    // A version that is not deployed decides nothing before it is.
    answers: workflow ? decisions : [],
  };
}
