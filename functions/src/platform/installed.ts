/**
 * The workflows of this installation, and how what they do outside is called: those that are shipped, as far as what
 * they act upon is configured, unless a functions module of its own brings others before the first request.
 */
import { GithubApi } from '../capabilities/github/api.ts';
import { githubBindings } from '../capabilities/github/bindings.ts';
import { slackRespondBinding } from '../capabilities/slack/respond.ts';
import type { Binding } from '../engine/define/capability.ts';
import type { Workflow } from '../engine/define/steps.ts';
import { shippedWorkflows } from '../workflows/index.ts';
import { systemClock } from './clock.ts';
import { outsideOf } from './hooks/hooks.ts';
import { type GithubAccess, githubAccess, hookUrls, slackHooks } from './params.ts';

let installed: readonly Workflow[] | undefined;
let own: readonly Binding[] = [];

/**
 * Replaces the shipped workflows. Call it where the functions are exported, before any of them is.
 *
 * @param bindings beside the shipped ones, or in their place where they bind the same capability
 */
export function installWorkflows(workflows: readonly Workflow[], bindings: readonly Binding[] = []): void {
  installed = workflows;
  own = bindings;
}

/** Whether this installation has a token for GitHub: what a review is posted with. */
export const installedGithub = { isThere: () => githubAccess().token() !== undefined };

/** Asked by the first request: parameters have values then. */
export function installedWorkflows(): readonly Workflow[] {
  installed ??= shippedWorkflows({ ...outsideOf(hookUrls()), github: installedGithub, slack: true });
  return installed;
}

/** How the capabilities that they use are called here. */
export function installedBindings(): readonly Binding[] {
  const bound = new Set(own.map(({ capability }) => capability.id));
  const shipped = [
    ...githubBindings(githubApi(githubAccess())),
    slackRespondBinding({ baseUrl: slackHooks(), clock: systemClock }),
  ];
  return [...own, ...shipped.filter(({ capability }) => !bound.has(capability.id))];
}

function githubApi({ url, token }: GithubAccess): GithubApi {
  // A stand-in on this machine has ended what it began by the time anybody asks.
  const isStandIn = new URL(url).hostname === '127.0.0.1';
  return new GithubApi({ baseUrl: url, token, clock: systemClock, ...(isStandIn ? { settleMs: 0 } : {}) });
}
