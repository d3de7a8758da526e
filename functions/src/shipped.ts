/** The workflows of this installation: the shipped ones whose receivers are configured. */
import type { Binding, Workflow } from 'cairn';
import { githubToken, hookUrls } from 'cairn/functions';
import { outsideOf } from './hooks/hooks.ts';
import { shippedWorkflows } from './workflows/index.ts';

let installed: readonly Workflow[] | undefined;
let own: readonly Binding[] = [];

/**
 * Replaces the workflows of `index.ts`. Must be called in the module that exports its functions again, before any of them is called.
 * Other projects pass their workflows to `cairnFunctions`.
 *
 * @param bindings added to the shipped ones, or replacing those of the same capability
 */
export function installWorkflows(workflows: readonly Workflow[], bindings: readonly Binding[] = []): void {
  installed = workflows;
  own = bindings;
}

/** A review is posted if this installation has a token for GitHub. */
export const installedGithub = { isThere: () => githubToken() !== undefined };

/** Called by the first request, because parameters have values then. */
export function installedWorkflows(): readonly Workflow[] {
  installed ??= shippedWorkflows({ ...outsideOf(hookUrls()), github: installedGithub, slack: true });
  return installed;
}

export const installedBindings = (): readonly Binding[] => own;
