/** The names Slack gives to teams, users and channels, and how a person in Slack is named in journals. */

export const SLACK_ID = /^[A-Z0-9]{1,64}$/;

/** A user id is unique only within its team. */
export function actorOf(teamId: string, userId: string): string {
  return `s.${teamId}.${userId}`;
}

/** An actor as a person in Slack reads it: a mention, if it is one of this team. */
export function readableActor(actor: string | undefined, teamId: string): string {
  if (actor === undefined) return 'somebody';
  const prefix = actorOf(teamId, '');
  return actor.startsWith(prefix) ? `<@${actor.slice(prefix.length)}>` : `\`${actor}\``;
}
