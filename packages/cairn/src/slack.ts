/** The capability at Slack that is shipped. */

export { slackRespond } from './capabilities/slack/respond.ts';
