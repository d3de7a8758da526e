/** What this deployment knows of the plan a run is pinned to. */
import type { Deployed } from '../core/decisions/recovery.ts';
import type { RunState } from '../core/run/state.ts';
import type { WorkflowRegistry } from './define/registry.ts';

export function deployedFor(registry: WorkflowRegistry, { type, planVersion }: RunState): Deployed {
  const workflow = registry.pinned(type, planVersion);
  return {
    available: workflow !== undefined,
    // A step the definition does not know was never declared safe to repeat.
    isIdempotent: (stepKey) => workflow?.steps.get(stepKey)?.idempotent ?? false,
  };
}
