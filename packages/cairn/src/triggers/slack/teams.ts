/** Teams and users of Slack: their ids, their names in journals, and the tenant of each connected team. */

export const SLACK_ID = /^[A-Z0-9]{1,64}$/;

/** A user id is unique only within its team. */
export function actorOf(teamId: string, userId: string): string {
  return `s.${teamId}.${userId}`;
}

/** An actor as text for a person in Slack: a mention if the actor belongs to this team. */
export function readableActor(actor: string | undefined, teamId: string): string {
  if (actor === undefined) return 'somebody';
  const prefix = actorOf(teamId, '');
  return actor.startsWith(prefix) ? `<@${actor.slice(prefix.length)}>` : `\`${actor}\``;
}

const PAIR = /^([A-Z0-9]{1,64})=([\w.-]{1,100})$/;

/**
 * Parses the parameter: `TEAM=tenant`, several separated by commas. Empty: no team is connected.
 *
 * @throws Error with the invalid pair or the duplicate team
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
