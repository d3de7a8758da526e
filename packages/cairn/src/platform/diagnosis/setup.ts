/**
 * Reads the setup of this installation from its environment and parameters.
 *
 * Must not: reveal a secret, a part of one, or its length.
 */
import { messageOf } from '../../core/thrown.ts';
import type { SeenSecret, SetupProbe, WrongParameter } from '../../ports/diagnosis/setup.ts';
import { githubTenantsIn } from '../../triggers/github/tenants.ts';
import { tenantsIn } from '../../triggers/slack/teams.ts';
import type { Settings } from '../settings/settings.ts';
import type { BoundSecrets } from './bound-secrets.ts';

/** Value that marks a secret as unused. */
const NONE = 'none';

export function setupProbe(
  settings: Pick<Settings, 'project' | 'runEventsTopic' | 'githubTenants' | 'slackTenants'>,
  bound: BoundSecrets,
  env: Readonly<Record<string, string | undefined>>,
): SetupProbe {
  const { project, runEventsTopic, githubTenants, slackTenants } = settings;
  return {
    project,
    publishes: runEventsTopic !== undefined,
    secrets: () =>
      Object.entries(bound).map(([name, functions]) => ({ name, functions, state: stateOf(env[name]) })),
    wrongParameters: () => [
      ...wrong('GITHUB_TENANTS', () => githubTenantsIn(githubTenants)),
      ...wrong('SLACK_TENANTS', () => tenantsIn(slackTenants)),
    ],
  };
}

/** A function has the variable of a secret if and only if the secret is bound to it, even if it is empty. */
function stateOf(value: string | undefined): SeenSecret['state'] {
  if (value === undefined) return 'elsewhere';
  const text = value.trim();
  if (text === '') return 'empty';
  return text === NONE ? 'none' : 'set';
}

function wrong(name: string, read: () => unknown): WrongParameter[] {
  try {
    read();
    return [];
  } catch (error) {
    return [{ name, why: messageOf(error) }];
  }
}
