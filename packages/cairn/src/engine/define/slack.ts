/** The slash commands that start a workflow: their declaration, the argument of their mapping, and valid names. */
import { invalid } from './step-options.ts';

/** A slash command. Plain JSON, so that it can be an input. */
export type SlackCommand = {
  /** With its slash: `/deploy`. */
  readonly command: string;
  readonly text: string;
  readonly userId: string;
  /** Empty once Slack stops sending it. */
  readonly userName: string;
  readonly teamId: string;
  readonly channelId: string;
  /** Allows its holder to post up to five times in the channel within 30 minutes. Store it only where needed. */
  readonly responseUrl: string;
  /** Unique per interaction, within its team. */
  readonly triggerId: string;
};

/** Declares that a slash command starts this workflow. A command belongs to one workflow. */
export interface SlackSubscription {
  readonly command: string;
  /**
   * Maps the command to the input of the run; absent: the command itself. Must be pure. The workflow's schema validates
   * the result, and a CairnError it throws is shown to the user.
   */
  readonly input?: (command: SlackCommand) => unknown;
}

/** Slack's own rule for the name of a command. */
const COMMAND = /^\/[^\s/\p{Lu}]{1,31}$/u;

/** @throws CairnError INVALID_INPUT naming the command */
export function slackSubscriptions(
  type: string,
  given: readonly SlackSubscription[],
): readonly SlackSubscription[] {
  const commands = new Set<string>();
  for (const { command } of given) {
    if (!COMMAND.test(command)) {
      throw invalid(
        type,
        'on.slack.command',
        `'${command}' is not a slash command: use a slash and up to 31 characters without capitals or spaces`,
      );
    }
    if (commands.has(command)) throw invalid(type, 'on.slack.command', `'${command}' is listed twice`);
    commands.add(command);
  }
  return given;
}
