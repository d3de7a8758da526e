/** Bindings of a deployment: exactly one for each capability that its workflows use. */
import { invalidInput } from '../../core/errors.ts';
import type { Binding, Capability } from './capability.ts';
import type { WorkflowRegistry } from './registry.ts';
import type { Workflow } from './steps.ts';

const ADD_BINDING = 'Add a binding (defineBinding) to the bindings of the deployment.';

/** Bindings by the id of their capability. @throws CairnError INVALID_INPUT if one is bound twice */
export function byCapability(bindings: Iterable<Binding>): ReadonlyMap<string, Binding> {
  const bound = new Map<string, Binding>();
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

/** @throws CairnError INVALID_INPUT naming the first step that uses a capability without a binding */
export function assertBound(workflows: Iterable<Workflow>, isBound: (capabilityId: string) => boolean): void {
  for (const { type, steps } of workflows) {
    for (const step of steps.values()) {
      const unbound = 'uses' in step ? step.uses.find(({ id }) => !isBound(id)) : undefined;
      if (unbound === undefined) continue;
      throw invalidInput(
        'bindings',
        `step '${step.id}' of workflow '${type}' uses '${unbound.id}', which has no binding`,
        { stepId: step.id, help: ADD_BINDING },
      );
    }
  }
}

export class Bindings {
  readonly #byCapability: ReadonlyMap<string, Binding>;

  /** @throws CairnError INVALID_INPUT if a capability is bound twice */
  constructor(bindings: readonly Binding[]) {
    this.#byCapability = byCapability(bindings);
  }

  get all(): readonly Binding[] {
    return [...this.#byCapability.values()];
  }

  /** @throws CairnError INVALID_INPUT if the capability has no binding */
  of(capability: Capability): Binding {
    return this.byId(capability.id);
  }

  /** @throws CairnError INVALID_INPUT if the capability has no binding */
  byId(capabilityId: string): Binding {
    const binding = this.#byCapability.get(capabilityId);
    if (binding) return binding;
    throw invalidInput('bindings', `capability '${capabilityId}' has no binding`, { help: ADD_BINDING });
  }

  has(capabilityId: string): boolean {
    return this.#byCapability.has(capabilityId);
  }

  /**
   * Returns true if a call in doubt can be resolved automatically: by a lookup, or because the receiver acts once per
   * key.
   */
  canFindOut(capabilityId: string): boolean {
    const binding = this.#byCapability.get(capabilityId);
    return (
      binding !== undefined && (binding.lookup !== undefined || binding.capability.idempotency === 'required')
    );
  }

  /** Called once, at load, so that a missing binding does not fail a run halfway. @throws CairnError INVALID_INPUT naming the step */
  assertBound(registry: WorkflowRegistry): void {
    const workflows = registry.types().flatMap((type) => registry.versions(type));
    assertBound(workflows, (capabilityId) => this.has(capabilityId));
  }
}
