/** Slack: the capability that sends a message, and the message for an approval. */

export { slackRespond } from './capabilities/slack/respond.ts';
export { type ApprovalWait, approvalBlocks, type SlackBlock } from './triggers/slack/blocks.ts';
