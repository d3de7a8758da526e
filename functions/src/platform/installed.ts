/**
 * The workflows of this installation: those that are shipped, unless a functions module of its own brings others
 * before the first request.
 */
import type { Workflow } from '../engine/define/steps.ts';
import { workflows as shipped } from '../workflows/index.ts';

let installed: readonly Workflow[] = shipped;

/** Replaces the shipped workflows. Call it where the functions are exported, before any of them is. */
export function installWorkflows(workflows: readonly Workflow[]): void {
  installed = workflows;
}

export function installedWorkflows(): readonly Workflow[] {
  return installed;
}
