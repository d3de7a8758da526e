/** Bindings of this deployment, and a check that they cover all capabilities in use. */
import { ADD_BINDING, assertBound, byCapability } from '../../core/effects/bound.ts';
import { invalidInput } from '../../core/errors.ts';
import type { Binding, Capability } from './capability.ts';
import type { WorkflowRegistry } from './registry.ts';

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
