/** What this deployment knows of the plan a run is pinned to. */
import type { Deployed } from '../core/decisions/deployed.ts';
import { type RunState, stepIdOf } from '../core/run/state.ts';
import type { WorkflowRegistry } from './define/registry.ts';
import type { StepDefinition } from './define/steps.ts';

export function deployedFor(registry: WorkflowRegistry, { type, planVersion }: RunState): Deployed {
  const workflow = registry.pinned(type, planVersion);
  const stepOf = (key: string) => workflow?.steps.get(stepIdOf(key));
  return {
    available: workflow !== undefined,
    // A step the definition does not know was never declared safe to repeat.
    isIdempotent: (key) => isIdempotent(stepOf(key), key),
    onDoubt: workflow?.onDoubt ?? 'fail',
    isCompensable: (key) => isCompensable(stepOf(key), key),
  };
}

/** A map does nothing itself: what may not be repeated are its items. */
function isIdempotent(step: StepDefinition | undefined, key: string): boolean {
  return step !== undefined && (step.idempotent || (step.kind === 'map' && key === step.id));
}

/** Of a map each item is undone, and the map itself has nothing to undo. */
function isCompensable(step: StepDefinition | undefined, key: string): boolean {
  if (!step || !('compensate' in step) || !step.compensate) return false;
  return (step.kind === 'map') === (key !== step.id);
}
