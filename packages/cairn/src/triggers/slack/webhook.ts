/**
 * Slack webhook: slash commands start runs, buttons decide approvals. Users get a text within three seconds. Only
 * requests that Slack does not send get a problem response.
 */
import { CairnError } from '../../core/errors.ts';
import { contextOf, type RequestContext } from '../../http/caller-context.ts';
import { assertPostTo } from '../../http/post-only.ts';
import { problemResponse } from '../../http/problem.ts';
import { readCommand, runCommand } from './command.ts';
import type { SlackDeps, SlackScope } from './deps.ts';
import { decidePress, readPress } from './interaction.ts';
import { refusal, type SlackMessage, STILL_BUSY, UNKNOWN_OUTCOME } from './message.ts';
import { type Form, readForm } from './signed-form.ts';

/** Slack waits three seconds. The difference is for the network. */
const ANSWER_WITHIN_MS = 2_500;

/** Never rejects. */
export async function slackWebhook(deps: SlackDeps, request: Request): Promise<Response> {
  const { log, clock } = deps;
  try {
    assertPostTo('/webhooks/slack', request);
    const form = await readForm(request, { secrets: deps.secrets(), now: clock.now() });
    const scope = { ...deps, tenants: deps.tenants() };
    const work = workOf(scope, form, contextOf(request.headers));
    return work ? Response.json(await inTime(deps, inWords(deps, work))) : new Response(null);
  } catch (error) {
    return problemResponse(error, log);
  }
}

type SlackWork = () => Promise<SlackMessage>;

/**
 * The work that the request asks for; undefined if a response is enough.
 *
 * @throws CairnError INVALID_INPUT for requests that Slack does not send
 */
function workOf(scope: SlackScope, form: Form, context: RequestContext): SlackWork | undefined {
  if (form.get('ssl_check') === '1') return undefined;
  const payload = form.get('payload');
  if (payload !== undefined) {
    const press = readPress(payload);
    return press && (() => decidePress(scope, press));
  }
  const command = readCommand(form);
  return () => runCommand(scope, { command, context });
}

/** Never rejects: Slack shows the body of a 200 to people, but for any other status only that the request failed. */
async function inWords({ log }: SlackDeps, work: SlackWork): Promise<SlackMessage> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof CairnError && error.httpStatus < 500) return refusal(error);
    log.error('slack_request_failed', { error });
    return UNKNOWN_OUTCOME;
  }
}

/** The response, or after {@link ANSWER_WITHIN_MS} a notice that the work continues. The key prevents a second run. */
async function inTime({ clock, log }: SlackDeps, answer: Promise<SlackMessage>): Promise<SlackMessage> {
  const late = Promise.withResolvers<SlackMessage>();
  const cancel = clock.timer(ANSWER_WITHIN_MS, () => {
    log.warn('slack_answer_late', { afterMs: ANSWER_WITHIN_MS });
    late.resolve(STILL_BUSY);
  });
  try {
    return await Promise.race([answer, late.promise]);
  } finally {
    cancel();
  }
}
