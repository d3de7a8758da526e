/** The workflows of this installation: the shipped ones whose receivers are configured. */
import type { Binding, Workflow } from 'cairn';
import { githubToken, hookUrls } from 'cairn/functions';
import { outsideOf } from './hooks/hooks.ts';
import { shippedWorkflows } from './workflows/index.ts';

let installed: readonly Workflow[] | undefined;
let own: readonly Binding[] = [];

/**
 * Replaces the workflows of `index.ts`. Call it where its functions are exported again, before any of them is called.
 * Projects of their own hand their workflows to `cairnFunctions`.
 *
 * @param bindings beside the shipped ones, or in their place where they bind the same capability
 */
export function installWorkflows(workflows: readonly Workflow[], bindings: readonly Binding[] = []): void {
  installed = workflows;
  own = bindings;
}

/** A review is posted with the token for GitHub, if this installation has one. */
export const installedGithub = { isThere: () => githubToken() !== undefined };

/** Asked by the first request: parameters have values then. */
export function installedWorkflows(): readonly Workflow[] {
  installed ??= shippedWorkflows({ ...outsideOf(hookUrls()), github: installedGithub, slack: true });
  return installed;
}

export const installedBindings = (): readonly Binding[] => own;
