/** Bindings of the shipped capabilities, for the enabled features. */
import { GithubApi, type GithubApiOptions } from '../capabilities/github/api.ts';
import { githubBindings } from '../capabilities/github/bindings.ts';
import { slackRespondBinding } from '../capabilities/slack/respond.ts';
import type { Binding } from '../engine/define/capability.ts';
import { systemClock } from './clock.ts';
import type { CairnOptions } from './installation/options.ts';
import { githubAccess, slackHooks } from './settings/outside.ts';

export interface GithubApiAccess {
  /** Without a trailing slash. */
  readonly url: string;
  readonly token: GithubApiOptions['token'];
}

/** The bindings of the installation, and the shipped ones of capabilities that it does not bind itself. */
export function bindingsFor(
  { github, slack }: Pick<CairnOptions, 'github' | 'slack'>,
  given: readonly Binding[],
): readonly Binding[] {
  const bound = new Set(given.map(({ capability }) => capability.id));
  const shipped = [
    ...(github ? githubBindingsAt(githubAccess()) : []),
    ...(slack ? [slackRespondBinding({ baseUrl: slackHooks(), clock: systemClock })] : []),
  ];
  return [...given, ...shipped.filter(({ capability }) => !bound.has(capability.id))];
}

/** Bindings of the GitHub capabilities. `token` is called for each request, because installation tokens expire after an hour. */
export function githubBindingsAt({ url, token }: GithubApiAccess): readonly Binding[] {
  // A stand-in on this machine shows effects without delay.
  const isStandIn = new URL(url).hostname === '127.0.0.1';
  const api = { baseUrl: url, token, clock: systemClock, ...(isStandIn ? { settleMs: 0 } : {}) };
  return githubBindings(new GithubApi(api));
}
