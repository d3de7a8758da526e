/**
 * Connected GitHub installations and accounts, and the tenants of their deliveries.
 *
 * Must not: trust more than the signature proves. Anyone with the webhook's secret can name any installation. Tenants that do not
 * trust each other need GitHub Apps of their own (docs/github.md).
 */
import type { GithubDelivery } from './delivery.ts';

/** Longer than any account name. Payloads may contain anything. */
const MAX_NAME_CHARS = 100;
const PAIR = /^([\w-]{1,100}|\*)=([\w.-]{1,100})$/;
const TENANT = /^[\w.-]{0,100}$/;
const EVERYBODY = '*';

export interface GithubTenants {
  /** By the id of an installation; digits only. */
  readonly installations: ReadonlyMap<string, string>;
  /** By the account that owns the repository, in lower case, because GitHub's account names are case-insensitive. */
  readonly owners: ReadonlyMap<string, string>;
  /** Tenant of all others; undefined: they are not connected. */
  readonly others: string | undefined;
}

interface GithubTenantParameters {
  /** `GITHUB_TENANTS`: `installationId=tenant`, `owner=tenant`, `*=tenant`, separated by commas. */
  readonly listed: string;
  /** `GITHUB_TENANT`: tenant of senders that are not listed; empty: see {@link githubTenantsIn}. */
  readonly others: string;
}

/** Tenant of an installation without configured tenants, such as the local cloud. */
const ONLY_TENANT = 'local';

/**
 * Parses both parameters. If the list is empty, everyone is connected; otherwise unlisted senders are connected only by a
 * catch-all.
 *
 * @throws Error with an invalid pair, a duplicate, or an invalid tenant
 */
export function githubTenantsIn({ listed, others }: GithubTenantParameters): GithubTenants {
  if (!TENANT.test(others)) throw new Error(`GITHUB_TENANT: '${others}' is not a tenant`);
  const installations = new Map<string, string>();
  const owners = new Map<string, string>();
  for (const entry of listed.split(',').map((text) => text.trim())) {
    if (entry === '') continue;
    const [, who, tenant] = PAIR.exec(entry) ?? [];
    if (who === undefined || tenant === undefined)
      throw new Error(`GITHUB_TENANTS: '${entry}' is not INSTALLATION=tenant, OWNER=tenant or *=tenant`);
    // An account may also be called 123. It is listed by its installation.
    const isInstallation = /^\d+$/.test(who);
    const names = isInstallation ? installations : owners;
    const name = who.toLowerCase();
    if (names.has(name)) throw new Error(`GITHUB_TENANTS names ${who} twice`);
    names.set(name, tenant);
  }
  const defaultTenants = owners.get(EVERYBODY);
  owners.delete(EVERYBODY);
  const isListed = installations.size + owners.size > 0;
  const fallback = others === '' && !isListed ? ONLY_TENANT : others;
  return { installations, owners, others: defaultTenants ?? (fallback === '' ? undefined : fallback) };
}

/** Sender of a delivery, as far as known. */
export interface Sender {
  /** Installation of a GitHub App; webhooks of a repository or an organization have none. */
  readonly installation?: string | undefined;
  /** Owner of the repository as named in its run, else the organization, else the account that installed the app. */
  readonly owner?: string | undefined;
}

export function senderOf({ payload }: Pick<GithubDelivery, 'payload'>): Sender {
  const id = memberOf(payload.installation, 'id');
  const fullName = memberOf(payload.repository, 'full_name');
  const owner =
    typeof fullName === 'string'
      ? fullName.split('/')[0]
      : (memberOf(payload.organization, 'login') ??
        memberOf(memberOf(payload.installation, 'account'), 'login'));
  return {
    installation: typeof id === 'number' ? String(id) : undefined,
    owner: typeof owner === 'string' ? owner.slice(0, MAX_NAME_CHARS) : undefined,
  };
}

/** Tenant of a delivery; undefined: not connected. The installation takes precedence over the owner. */
export function tenantOf(
  { installations, owners, others }: GithubTenants,
  { installation, owner }: Sender,
): string | undefined {
  const byInstallation = installation === undefined ? undefined : installations.get(installation);
  const byOwner = owner === undefined ? undefined : owners.get(owner.toLowerCase());
  return byInstallation ?? byOwner ?? others;
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Readonly<Record<string, unknown>>)[name]
    : undefined;
}
