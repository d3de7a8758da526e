/** Bindings of this deployment, and a check that they cover all capabilities in use. */
import { invalidInput } from '../../core/errors.ts';
import type { Binding, Capability } from './capability.ts';
import type { WorkflowRegistry } from './registry.ts';

const ADD = 'Add a binding (defineBinding) to the bindings of the deployment.';

export class Bindings {
  readonly #byCapability = new Map<string, Binding>();

  /** @throws CairnError INVALID_INPUT if a capability is bound twice */
  constructor(bindings: readonly Binding[]) {
    for (const binding of bindings) {
      const { id } = binding.capability;
      if (this.#byCapability.has(id)) {
        throw invalidInput('bindings', `capability '${id}' is bound twice`, {
          help: 'Leave one of the two bindings out of the bindings of the deployment.',
        });
      }
      this.#byCapability.set(id, binding);
    }
  }

  get all(): readonly Binding[] {
    return [...this.#byCapability.values()];
  }

  /** @throws CairnError INVALID_INPUT if the capability has no binding */
  of(capability: Capability): Binding {
    return this.byId(capability.id);
  }

  /** @throws CairnError INVALID_INPUT likewise */
  byId(capabilityId: string): Binding {
    const binding = this.#byCapability.get(capabilityId);
    if (binding) return binding;
    throw invalidInput('bindings', `capability '${capabilityId}' has no binding`, { help: ADD });
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

  /** Called once, at load: a run must not find out in its middle. @throws CairnError INVALID_INPUT naming the step */
  assertBound(registry: WorkflowRegistry): void {
    for (const type of registry.types()) {
      for (const workflow of registry.versions(type)) {
        for (const step of workflow.steps.values()) {
          for (const capability of 'uses' in step ? step.uses : [])
            this.#assertBound(type, step.id, capability);
        }
      }
    }
  }

  #assertBound(type: string, stepId: string, capability: Capability): void {
    if (this.#byCapability.has(capability.id)) return;
    throw invalidInput(
      'bindings',
      `step '${stepId}' of workflow '${type}' uses '${capability.id}', which has no binding`,
      { stepId, help: ADD },
    );
  }
}
