/**
 * The workflows of this installation: those that are shipped, as far as what they act upon is configured, unless a
 * functions module of its own brings others before the first request.
 */
import type { Workflow } from '../engine/define/steps.ts';
import { shippedWorkflows } from '../workflows/index.ts';
import { outsideOf } from './hooks/hooks.ts';
import { hookUrls } from './params.ts';

let installed: readonly Workflow[] | undefined;

/** Replaces the shipped workflows. Call it where the functions are exported, before any of them is. */
export function installWorkflows(workflows: readonly Workflow[]): void {
  installed = workflows;
}

/** Asked by the first request: parameters have values then. */
export function installedWorkflows(): readonly Workflow[] {
  installed ??= shippedWorkflows(outsideOf(hookUrls()));
  return installed;
}
