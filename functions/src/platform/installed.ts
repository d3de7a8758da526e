/**
 * The workflows of this installation: those that are shipped, as far as what they act upon is configured, unless a
 * functions module of its own brings others before the first request.
 */
import type { Binding } from '../engine/define/capability.ts';
import type { Workflow } from '../engine/define/steps.ts';
import { shippedWorkflows } from '../workflows/index.ts';
import { outsideOf } from './hooks/hooks.ts';
import { hookUrls } from './params.ts';

let installed: readonly Workflow[] | undefined;
let bound: readonly Binding[] = [];

/**
 * Replaces the shipped workflows, and how what they do outside is called. Call it where the functions are exported, before
 * any of them is.
 */
export function installWorkflows(workflows: readonly Workflow[], bindings: readonly Binding[] = []): void {
  installed = workflows;
  bound = bindings;
}

/** Asked by the first request: parameters have values then. */
export function installedWorkflows(): readonly Workflow[] {
  installed ??= shippedWorkflows(outsideOf(hookUrls()));
  return installed;
}

/** How the capabilities that they use are called here. */
export function installedBindings(): readonly Binding[] {
  return bound;
}
