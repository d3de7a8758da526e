/** The secrets bound to each function of an installation. */
import type { FunctionNames } from '../installation/exported-names.ts';
import { aloneMember, driveMember } from '../installation/installation.ts';
import type { CairnOptions } from '../installation/options.ts';

/** Names of functions, by the name of the secret. */
export type BoundSecrets = Readonly<Record<string, readonly string[]>>;

export function boundSecrets(
  { github, slack, secrets = [], drives = {} }: CairnOptions,
  names: FunctionNames,
): BoundSecrets {
  const named = (members: readonly string[]) => members.map((member) => names[member] ?? member);
  const pools = [undefined, ...Object.keys(drives)];
  const bodies = named(pools.flatMap((pool) => [driveMember(pool), aloneMember(pool)]));
  return {
    ...(github ? { GITHUB_WEBHOOK_SECRET: named(['githubWebhook']) } : {}),
    ...(slack ? { SLACK_SIGNING_SECRET: named(['slackWebhook']) } : {}),
    ...(github ? { GITHUB_TOKEN: bodies } : {}),
    ...Object.fromEntries(
      secrets.map((secret) => [typeof secret === 'string' ? secret : secret.name, bodies]),
    ),
  };
}
