/** A slash command becomes one run of the workflow that declares it, however often the request arrives. */

import { requestHash } from '../../core/encoding/fingerprint.ts';
import { slackKey } from '../../core/encoding/idempotency-keys.ts';
import { CairnError, invalidInput } from '../../core/errors.ts';
import type { SlackCommand, SlackSubscription } from '../../engine/define/slack.ts';
import type { RequestContext } from '../../http/caller-context.ts';
import { startMapped } from '../../operations/start/start-mapped.ts';
import type { SlackScope } from './deps.ts';
import { privately, quoted, type SlackMessage } from './message.ts';
import type { Form } from './signed-form.ts';
import { actorOf, SLACK_ID } from './teams.ts';

const MAX_URL_CHARS = 2_000;

/** @throws CairnError INVALID_INPUT with the name of a field that Slack does not send in this form */
export function readCommand(form: Form): SlackCommand {
  return {
    command: field(form, 'command', (text) => /^\/\S{1,100}$/.test(text)),
    text: form.get('text') ?? '',
    userId: field(form, 'user_id', isId),
    userName: form.get('user_name') ?? '',
    teamId: field(form, 'team_id', isId),
    channelId: field(form, 'channel_id', isId),
    responseUrl: field(form, 'response_url', isUrl),
    triggerId: field(form, 'trigger_id', (text) => /^[\x21-\x7e]{1,255}$/.test(text)),
  };
}

/** @throws CairnError for a command that the workflow does not accept (INVALID_INPUT names the field), UNAVAILABLE */
export async function runCommand(
  deps: SlackScope,
  { command, context }: { readonly command: SlackCommand; readonly context: RequestContext },
): Promise<SlackMessage> {
  const { teamId, userId, triggerId } = command;
  const tenantId = deps.tenants.get(teamId);
  if (tenantId === undefined) return notConnected(deps, teamId);
  const listener = deps.registry.slackListener(command.command);
  if (!listener) return privately(`No workflow handles ${quoted(command.command)}.`);
  const { workflow, subscription } = listener;
  const identity = {
    tenantId,
    key: slackKey(teamId, triggerId),
    requestHash: requestHash('slack:command', command),
  };
  const mapping = () => inputOf(deps, subscription, command);
  const outcome = await startMapped(deps, identity, mapping, (input) => ({
    ...identity,
    environment: deps.environment,
    workflow,
    input,
    trigger: { source: 'webhook', userId: actorOf(teamId, userId), webhookEventId: triggerId },
    source: 'slack',
    ...context,
  }));
  const { type } = outcome.kind === 'in_flight' ? workflow : outcome.response;
  return privately(
    outcome.kind === 'in_flight'
      ? `Starting a run of \`${type}\`.`
      : `Started \`${type}\`: run \`${outcome.runId}\`.`,
  );
}

/** The same response for commands and buttons. Nothing was done, and the log has the team. */
export function notConnected({ log }: SlackScope, teamId: string): SlackMessage {
  log.warn('slack_team_unknown', { teamId });
  return privately('This Slack workspace is not connected to Cairn. Nothing was done.');
}

/** Input of a user must not cause an internal error, even if the author's mapping throws. */
function inputOf({ log }: SlackScope, { input }: SlackSubscription, command: SlackCommand): unknown {
  if (!input) return command;
  try {
    return input(command);
  } catch (error) {
    if (error instanceof CairnError && error.httpStatus < 500) throw error;
    log.error('slack_input_failed', { command: command.command, error });
    throw new CairnError('INVALID_INPUT', `${command.command} cannot be parsed`, { cause: error });
  }
}

function field(form: Form, name: string, isValid: (text: string) => boolean): string {
  const value = form.get(name);
  if (value !== undefined && isValid(value)) return value;
  const problem = value === undefined ? 'missing' : 'malformed';
  throw invalidInput(name, `the field ${name} is ${problem}`);
}

function isId(text: string): boolean {
  return SLACK_ID.test(text);
}

function isUrl(text: string): boolean {
  return text.length <= MAX_URL_CHARS && text.startsWith('https://') && URL.canParse(text);
}
