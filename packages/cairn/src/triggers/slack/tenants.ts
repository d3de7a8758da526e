/** The connected Slack teams, and the tenant of each. */

const PAIR = /^([A-Z0-9]{1,64})=([\w.-]{1,100})$/;

/**
 * The mapping in the parameter: `TEAM=tenant`, several separated by commas. Empty: no team is connected.
 *
 * @throws Error that names the invalid pair, or the duplicate team
 */
export function tenantsIn(parameter: string): ReadonlyMap<string, string> {
  const tenants = new Map<string, string>();
  for (const entry of parameter.split(',').map((text) => text.trim())) {
    if (entry === '') continue;
    const [, team, tenant] = PAIR.exec(entry) ?? [];
    if (team === undefined || tenant === undefined)
      throw new Error(`SLACK_TENANTS: '${entry}' is not TEAM=tenant`);
    if (tenants.has(team)) throw new Error(`SLACK_TENANTS names the team ${team} twice`);
    tenants.set(team, tenant);
  }
  return tenants;
}
