/**
 * The environment in which a run is started, besides its plan: short hashes of the capabilities that its workflow uses, of
 * their bindings, and of the whole registry. Equal hashes mean that two deployments agree in these.
 */
import { sha256Hex } from '../core/encoding/hash.ts';
import { canonicalJson, type Json } from '../core/encoding/json.ts';
import type { RunIdentity } from '../core/run/events.ts';
import type { Capability } from './define/capability.ts';
import type { WorkflowRegistry } from './define/registry.ts';
import type { Workflow } from './define/steps.ts';
import type { RunDeps } from './deps.ts';

/** Enough digits that two hashes of one installation never collide by chance. */
const DIGITS = 16;
const registries = new WeakMap<WorkflowRegistry, string>();

export function versionsOf(
  { registry, bindings }: Pick<RunDeps, 'registry' | 'bindings'>,
  workflow: Workflow,
): NonNullable<RunIdentity['versions']> {
  const used = capabilitiesOf(workflow);
  return {
    capabilities: shortHash(
      used.map(({ id, sideEffects, idempotency, replayPolicy, requiresConfirmation }) => ({
        id,
        sideEffects,
        idempotency,
        requiresConfirmation,
        replayPolicy,
      })),
    ),
    bindings: shortHash(used.map(({ id }) => [id, bindings.has(id) ? bindings.byId(id).id : null])),
    registryRef: refOf(registry),
  };
}

/** In the order of their ids, each once. */
function capabilitiesOf({ steps }: Workflow): Capability[] {
  const used = [...steps.values()].flatMap((step) => ('uses' in step ? step.uses : []));
  const byId = new Map(used.map((capability) => [capability.id, capability]));
  return [...byId.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
}

function refOf(registry: WorkflowRegistry): string {
  const known = registries.get(registry);
  if (known !== undefined) return known;
  const plans = registry.types().map((type) => [type, registry.versions(type).map((one) => one.planVersion)]);
  const ref = shortHash(plans);
  registries.set(registry, ref);
  return ref;
}

function shortHash(value: Json): string {
  return sha256Hex(canonicalJson(value)).slice(0, DIGITS);
}
