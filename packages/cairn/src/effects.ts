/** `cairn/effects`: the side-effect ledger in any function on Firestore, without runs (docs/once.md). */
export { CairnError, Fatal, NotApplied } from './core/errors.ts';
export {
  type Binding,
  type BindingOptions,
  type Capability,
  type CapabilityOptions,
  defineBinding,
  defineCapability,
  type Found,
} from './engine/define/capability.ts';
export { EffectForbidden, EffectPending, type PendingReason } from './engine/external/errors.ts';
export {
  createEffects,
  type Effects,
  type EffectsOptions,
  type OnceOptions,
} from './platform/external/create-effects.ts';
