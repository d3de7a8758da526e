/**
 * Previews the effect of a bulk change on one run, by the same decisions as the change itself.
 *
 * Must not: write anything.
 */
import { CairnError } from '../../core/errors.ts';
import { isOver } from '../../core/run/state.ts';
import { deployedFor, learnUndoable, planMissing, workflowOf } from '../../engine/definition-of-run.ts';
import { loadOwn } from '../append-to-run.ts';
import { cancelDrafts } from '../cancel-run.ts';
import { previewSuccessor } from '../successors/preview.ts';
import type { PreviewDeps } from '../successors/request.ts';
import { approvalOf, type NamedQuestion } from './question.ts';
import type { BulkAct, BulkTarget } from './target.ts';

export const BULK_FORECASTS = [
  'end_at_once',
  'ask_to_end',
  'start_successor',
  'continue',
  'approve',
  'nothing',
] as const;

interface PreviewedChange {
  /** `ask_to_end`: a worker ends the run after its compensations. `nothing`: the run is in that state already. */
  readonly would: (typeof BULK_FORECASTS)[number];
  readonly stepsReused?: number;
  readonly stepsRun?: number;
  readonly effectsRepeated?: number;
  /** Recorded effects that a person would be asked about. */
  readonly effectsAsked?: number;
  /** The approval that would be given. */
  readonly question?: NamedQuestion;
}

interface ChangeToPreview {
  readonly act: BulkAct;
  readonly tenantId: string;
  readonly target: BulkTarget;
}

/** @throws CairnError if the change would be refused with this error */
export async function previewChange(
  deps: PreviewDeps,
  { act, tenantId, target }: ChangeToPreview,
): Promise<PreviewedChange> {
  const { runId } = target;
  if (act === 'resume' || act === 'replay')
    return previewChosenSuccessor(deps, { mode: act, tenantId, runId });
  const { state, readAt } = await loadOwn(deps, { runId, tenantId });
  const { registry } = deps;
  const isDeployed = workflowOf(registry, state) !== undefined;
  if (act === 'cancel') {
    // For a version that is not deployed, only its stored plan shows whether there are compensations.
    if (!isDeployed && !isOver(state)) await learnUndoable(deps, state);
    const drafts = cancelDrafts(state, { stopKind: 'user' }, deployedFor(registry, state));
    if (drafts.length === 0) return { would: 'nothing' };
    return { would: drafts.some(({ type }) => type === 'run_cancelled') ? 'end_at_once' : 'ask_to_end' };
  }
  const question = approvalOf(state, deps, { target, now: readAt });
  if (question.waitId !== undefined && state.waits.some(({ id }) => id === question.waitId)) {
    if (!isDeployed) throw planMissing(registry, state, question.stepId);
    return { would: 'approve', question };
  }
  throw new CairnError('RUN_INVALID_TRANSITION', `run ${runId}: the approval is not open`, {
    stepId: question.stepId,
    details: { status: state.status },
  });
}

async function previewChosenSuccessor(
  deps: PreviewDeps,
  wanted: { readonly mode: 'resume' | 'replay'; readonly tenantId: string; readonly runId: string },
): Promise<PreviewedChange> {
  const { would, steps, effects, blockers } = await previewSuccessor(deps, wanted);
  const [blocker] = blockers;
  if (blocker) throw blocker;
  if (would !== 'start_successor') return { would: would === 'unpark' ? 'continue' : 'nothing' };
  const reused = steps.filter(({ action }) => action === 'reused').length;
  const counted = (action: string) => effects.filter((effect) => effect.action === action).length;
  return {
    would: 'start_successor',
    stepsReused: reused,
    stepsRun: steps.length - reused,
    effectsRepeated: counted('re-executed'),
    effectsAsked: counted('asked'),
  };
}
