/**
 * The approval that a change of many runs answers. Only plain approvals are answered: for a step in doubt or a budget the same decision
 * means something else, and an approval with data needs different data for each run, so a person answers these one by one. Pure.
 */
import { CairnError, invalidInput } from '../../core/errors.ts';
import type { RunState } from '../../core/run/state.ts';
import { type DeployedDefinitions, type OpenQuestion, openQuestions } from '../inbox/questions.ts';
import type { BulkTarget } from './target.ts';

/** Open approvals of the run, or of one of its steps, oldest first. @param now epoch ms */
export function plainApprovals(
  run: RunState,
  deployed: DeployedDefinitions,
  { now, step }: { readonly now: number; readonly step?: string | undefined },
): readonly OpenQuestion[] {
  return openQuestions(run, deployed, now).filter(
    (question) =>
      question.kind === 'approval' && !takesData(question) && (step === undefined || question.step === step),
  );
}

function takesData({ wait }: OpenQuestion): boolean {
  return wait?.dataSchemaText !== undefined;
}

/** Identifies an approval; without `waitId` the open one of the step. */
export interface NamedQuestion {
  readonly stepId: string;
  readonly waitId?: string | undefined;
}

/**
 * The approval that the target names. One that is not open is returned as named, because the decision reports how it was decided.
 *
 * @throws CairnError RUN_INVALID_TRANSITION if it is not a plain approval, or if the target names none and not exactly one is open
 */
export function approvalOf(
  run: RunState,
  deployed: DeployedDefinitions,
  { target: { stepId, waitId }, now }: { readonly target: BulkTarget; readonly now: number },
): NamedQuestion {
  const open = openQuestions(run, deployed, now).filter(
    (question) =>
      (stepId === undefined || question.step === stepId) &&
      (waitId === undefined || question.wait?.id === waitId),
  );
  const [only, ...others] = open.filter(({ kind }) => kind === 'approval');
  if (only && others.length === 0) {
    if (!takesData(only)) return { stepId: only.step, waitId: only.wait?.id };
    throw invalidInput(
      'runs',
      `run ${run.id}: the approval '${only.step}' takes data, so it is answered on its own`,
      {
        stepId: only.step,
        help: 'Answer it on the page of the run, or with POST /v1/runs/{id}/approvals/{stepId} and `data`.',
      },
    );
  }
  if (!only && open.length === 0 && stepId !== undefined) return { stepId, waitId };
  const message = others.length > 0 ? `${others.length + 1} approvals are open` : 'no such approval is open';
  throw new CairnError('RUN_INVALID_TRANSITION', `run ${run.id}: ${message}`, {
    stepId,
    details: { status: run.status },
    help: "Name one question by 'stepId' and 'waitId', or answer it on the page of the run.",
  });
}
