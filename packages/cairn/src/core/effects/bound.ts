/**
 * Checks that an installation has exactly one binding for each capability that its workflows use. Knows only the members that it
 * reads, because a deployment that is read for its functions loads no module of the engine.
 */
import { invalidInput } from '../errors.ts';

/** The part of a workflow that names capabilities. */
interface UsingWorkflow {
  readonly type: string;
  readonly steps: {
    values(): Iterable<{ readonly id: string; readonly uses?: readonly { readonly id: string }[] }>;
  };
}

/** @throws CairnError INVALID_INPUT naming the first step that uses a capability without a binding */
export function assertBound(
  workflows: Iterable<UsingWorkflow>,
  isBound: (capabilityId: string) => boolean,
): void {
  for (const { type, steps } of workflows) {
    for (const { id: stepId, uses = [] } of steps.values()) {
      const unbound = uses.find(({ id }) => !isBound(id));
      if (unbound === undefined) continue;
      throw invalidInput(
        'bindings',
        `step '${stepId}' of workflow '${type}' uses '${unbound.id}', which has no binding`,
        { stepId, help: ADD_BINDING },
      );
    }
  }
}

export const ADD_BINDING = 'Add a binding (defineBinding) to the bindings of the deployment.';

/** Bindings by the id of their capability. @throws CairnError INVALID_INPUT if one is bound twice */
export function byCapability<B extends { readonly capability: { readonly id: string } }>(
  bindings: Iterable<B>,
): ReadonlyMap<string, B> {
  const bound = new Map<string, B>();
  for (const binding of bindings) {
    const { id } = binding.capability;
    if (bound.has(id))
      throw invalidInput('bindings', `capability '${id}' is bound twice`, {
        help: 'Leave one of the two bindings out of the bindings of the deployment.',
      });
    bound.set(id, binding);
  }
  return bound;
}
