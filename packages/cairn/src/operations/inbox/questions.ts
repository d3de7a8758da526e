/**
 * Open questions of a run, as an inbox shows them, with the accepted answers. Pure.
 *
 * Must not: answer anything; see operations/approvals, operations/effects and operations/successors.
 */

import { RESOLUTIONS, type Resolution } from '../../core/effects/effect.ts';
import { DECISIONS, type Decision, type Wait } from '../../core/run/events.ts';
import { endedInDoubt, questionsOf } from '../../core/run/open-questions.ts';
import { type RunState, stepKey } from '../../core/run/state.ts';
import type { Bindings } from '../../engine/define/bindings.ts';
import type { WorkflowRegistry } from '../../engine/define/registry.ts';
import { workflowOf } from '../../engine/definition-of-run.ts';
import { withCurrentSchemas } from '../../engine/waits/current-schemas.ts';

/**
 * `approval`: a step asks for a decision. `step_in_doubt`: a crash interrupted a step that must not run twice. `effect_in_doubt`: the
 * outcome of an effect is unknown, or its repetition needs permission. `left_in_doubt`: the outcome of an effect of an ended run is
 * unknown. `budget_reached`: the run has spent its budget and asks for more.
 */
export const QUESTION_KINDS = [
  'approval',
  'step_in_doubt',
  'effect_in_doubt',
  'left_in_doubt',
  'budget_reached',
] as const;
type QuestionKind = (typeof QUESTION_KINDS)[number];

/** A decision (`…/approvals/{step}`), a resolution (`…/effects/{effectId}/resolve`), or `…/resume`. */
export const ANSWERS = [...DECISIONS, ...RESOLUTIONS, 'resume'] as const;
type AnswerName = Decision | Resolution | 'resume';

export interface OpenQuestion {
  readonly kind: QuestionKind;
  readonly step: string;
  /** Epoch ms. */
  readonly openedAt: number;
  /** Absent if the run has ended. */
  readonly wait?: Wait;
  readonly effectId?: string | undefined;
  readonly capabilityId?: string | undefined;
  readonly answers: readonly AnswerName[];
}

export interface DeployedDefinitions {
  readonly registry: WorkflowRegistry;
  readonly bindings: Bindings;
}

/**
 * Open questions of one run, the oldest first, without those that can no longer be answered. For an ended run: each effect
 * whose outcome is not in its journal; the ledger may know it.
 *
 * @param now epoch ms
 */
export function openQuestions(run: RunState, deployed: DeployedDefinitions, now: number): OpenQuestion[] {
  if (endedInDoubt(run)) return leftInDoubt(run, deployed);
  const open = questionsOf(run).filter(({ dueAt }) => dueAt === undefined || now < dueAt);
  return withCurrentSchemas(deployed.registry, run, open)
    .map((wait) => questionOf(run, wait, deployed))
    .sort((a, b) => a.openedAt - b.openedAt || (a.step < b.step ? -1 : 1));
}

function leftInDoubt(run: RunState, { registry, bindings }: DeployedDefinitions): OpenQuestion[] {
  const openedAt = run.completedAt ?? run.updatedAt;
  // A completed or already resumed run cannot be resumed, nor can a version that is not deployed.
  const isResumable = run.status !== 'completed' && run.supersededBy === undefined;
  const isDeployed = workflowOf(registry, run) !== undefined;
  return run.effects.map(({ effectId, step, capabilityId }) => ({
    kind: 'left_in_doubt',
    step,
    openedAt,
    effectId,
    capabilityId,
    answers: [
      // The capability validates the result.
      ...(bindings.has(capabilityId) ? (['recorded'] as const) : []),
      'failed',
      ...(isResumable && isDeployed ? (['resume'] as const) : []),
    ],
  }));
}

function questionOf(run: RunState, wait: Wait, { registry }: DeployedDefinitions): OpenQuestion {
  const question = { step: stepKey(wait.execution), openedAt: wait.openedAt, wait };
  const workflow = workflowOf(registry, run);
  if (wait.purpose === 'effect') {
    const { effectId } = wait;
    const known = run.effects.find((open) => open.effectId === effectId);
    return {
      ...question,
      kind: 'effect_in_doubt',
      effectId,
      capabilityId: known?.capabilityId,
      // Without the definition, the consequences of the step's failure are unknown.
      answers: workflow ? RESOLUTIONS : RESOLUTIONS.filter((outcome) => outcome !== 'failed'),
    };
  }
  if (wait.purpose === 'budget')
    return { ...question, kind: 'budget_reached', answers: workflow ? ['approve', 'reject', 'halt'] : [] };
  const isDoubt = wait.purpose === 'doubt';
  const needs = workflow?.graph.has(wait.execution.stepId)
    ? workflow.graph.node(wait.execution.stepId).needs
    : [];
  // A step in doubt cannot be sent back, nor can an approval without needs.
  const canSendBack = !isDoubt && needs.length > 0;
  const decisions = DECISIONS.filter((decision) => decision !== 'retry_with_feedback' || canSendBack);
  return {
    ...question,
    kind: isDoubt ? 'step_in_doubt' : 'approval',
    // A decision needs the deployed version.
    answers: workflow ? decisions : [],
  };
}
