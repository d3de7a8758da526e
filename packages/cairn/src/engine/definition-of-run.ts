/** Facts of this deployment about the plan of a run. */
import type { Observation } from '../core/decisions/claim.ts';
import type { DeployedPlan } from '../core/decisions/deployed-plan.ts';
import { CairnError } from '../core/errors.ts';
import { differ } from '../core/plan/plan.ts';
import type { RunLimits, StepKind } from '../core/run/events.ts';
import { isOver, type RunState, stepIdOf, stepRefOf } from '../core/run/state.ts';
import { undoOfOperation } from './define/flow/flow-step.ts';
import type { WorkflowRegistry } from './define/registry.ts';
import type { StepDefinition, Workflow } from './define/steps.ts';
import type { EngineDeps } from './deps.ts';
import { planOf } from './plans/plan-of.ts';

/** The members of a run that identify its plan. */
type Pinned = Pick<RunState, 'type' | 'planVersion' | 'planFingerprint'>;

/** The definition on which the run was started; undefined: its version is not deployed, or its definition was changed. */
export function workflowOf(registry: WorkflowRegistry, run: Pinned): Workflow | undefined {
  const workflow = registry.pinned(run.type, run.planVersion);
  return workflow && !isChanged(registry, run, workflow) ? workflow : undefined;
}

function isChanged(registry: WorkflowRegistry, { planFingerprint }: Pinned, workflow: Workflow): boolean {
  if (planFingerprint === undefined) return registry.isKnownChanged(workflow);
  return differ(planFingerprint, planOf(workflow).fingerprint);
}

/** Limits of a run that is about to begin; none if the run already has them, has begun, or if its plan is not deployed. */
export function limitsOf(registry: WorkflowRegistry, state: RunState, now: number): RunLimits {
  if (state.steps.size > 0 || state.deadlineAt !== undefined || state.budget !== undefined) return {};
  const { timeoutMs, budget } = workflowOf(registry, state) ?? {};
  return { deadlineAt: timeoutMs === undefined ? undefined : now + timeoutMs, budget };
}

/** The error for a run without a {@link workflowOf}. */
export function planMissing(registry: WorkflowRegistry, run: Pinned, stepId?: string): CairnError {
  const { type, planVersion } = run;
  const more = { details: { type, planVersion }, stepId };
  return registry.pinned(type, planVersion)
    ? new CairnError(
        'PLAN_CHANGED',
        `the definition of version ${planVersion} of '${type}' changed since the run started`,
        more,
      )
    : new CairnError('PLAN_VERSION_UNAVAILABLE', `version ${planVersion} of '${type}' is not deployed`, more);
}

/** True for a refusal because the plan of the run is not deployed here: another deployment may take it. */
export function isPlanMissing({ code }: Pick<CairnError, 'code'>): boolean {
  return code === 'PLAN_VERSION_UNAVAILABLE' || code === 'PLAN_CHANGED';
}

/**
 * Loads the stored plan of a version where it must decide: whether a run older than plan fingerprints can continue, and whether
 * a cancelled run whose plan is not deployed has anything to compensate. Call before such a run is driven or recovered.
 *
 * @throws CairnError UNAVAILABLE
 */
export async function learnPlan(deps: Pick<EngineDeps, 'registry' | 'plans'>, state: RunState) {
  if (isOver(state)) return;
  const { registry, plans } = deps;
  const workflow = registry.pinned(state.type, state.planVersion);
  if (state.planFingerprint === undefined && workflow)
    registry.setKnownChanged(workflow, typeof (await plans.compare(workflow)) === 'object');
  if (state.cancellation && !workflowOf(registry, state)) await learnUndoable(deps, state);
}

/** @throws CairnError UNAVAILABLE */
export async function learnUndoable(
  { registry, plans }: Pick<EngineDeps, 'registry' | 'plans'>,
  run: Pinned,
): Promise<void> {
  if (registry.undoableIn(run)) return;
  const undoable = await plans.undoable(run);
  if (undoable) registry.setUndoable(run, undoable);
}

/** Returns whether the plan of a run is deployed here, and if not, whether its version is deployed with another definition. */
export function planStanding(
  registry: WorkflowRegistry,
  run: Pinned,
): Pick<DeployedPlan, 'available'> & { readonly changed: boolean } {
  const available = workflowOf(registry, run) !== undefined;
  return { available, changed: !available && registry.pinned(run.type, run.planVersion) !== undefined };
}

/** Input of `claimDecision`. `request`: of the dispatch that would claim the run; absent for the scan. */
export function observationOf(
  { settings, registry }: Pick<EngineDeps, 'settings' | 'registry'>,
  { state, metadata, readAt }: Pick<Observation, 'state' | 'metadata' | 'readAt'>,
  { delivery, skipsBackoff }: Pick<Observation, 'delivery' | 'skipsBackoff'> = {},
): Observation {
  const { leaseMs } = settings;
  return { state, metadata, readAt, leaseMs, deployed: deployedFor(registry, state), delivery, skipsBackoff };
}

export function deployedFor(registry: WorkflowRegistry, state: RunState): DeployedPlan {
  const workflow = workflowOf(registry, state);
  const stepOf = (key: string) => workflow?.steps.get(stepIdOf(key));
  return {
    ...planStanding(registry, state),
    // A step that the definition does not have was never declared idempotent.
    isIdempotent: (key) => isIdempotent(stepOf(key), key),
    actsOncePerKey: ({ step, capabilityId }) => actsOncePerKey(stepOf(step), capabilityId),
    allowsNewAttempt: (key, attempts) => {
      const step = stepOf(key);
      return step !== undefined && 'body' in step && !!step.newAttempt && attempts < step.retry.maxAttempts;
    },
    onDoubt: workflow?.onDoubt ?? 'fail',
    isCompensable: workflow
      ? (key) => isCompensable(stepOf(key), key)
      : mayBeCompensable(registry.undoableIn(state)),
  };
}

/** A map itself does nothing; only its items may be unsafe to repeat. */
function isIdempotent(step: StepDefinition | undefined, key: string): boolean {
  return step !== undefined && (step.idempotent || (step.kind === 'map' && key === step.id));
}

function actsOncePerKey(step: StepDefinition | undefined, capabilityId: string): boolean {
  const uses = step && 'uses' in step ? step.uses : [];
  return uses.some(({ id, idempotency }) => id === capabilityId && idempotency === 'required');
}

/** A plain step, the items of a map, or operations of a flow. */
export function hasCompensation(step: StepDefinition): boolean {
  if (step.kind === 'flow') return Object.keys(step.undo).length > 0;
  return 'compensate' in step && step.compensate !== undefined;
}

/** The items of a map and the named operations of a flow are compensated, but not the map or flow itself. */
export function isCompensable(step: StepDefinition | undefined, key: string): boolean {
  if (step?.kind === 'flow')
    return key !== step.id && undoOfOperation(step, stepRefOf(key, 1).itemKey ?? '') !== undefined;
  if (!step || !('compensate' in step) || !step.compensate) return false;
  return (step.kind === 'map') === (key !== step.id);
}

/** By the stored plan of a version that is not deployed; without one any step may have a compensation. */
function mayBeCompensable(undoable: ReadonlyMap<string, StepKind> | undefined): (key: string) => boolean {
  return (key) => {
    if (!undoable) return true;
    const id = stepIdOf(key);
    const isOfItems = undoable.get(id) === 'map' || undoable.get(id) === 'flow';
    return undoable.has(id) && isOfItems === (key !== id);
  };
}
