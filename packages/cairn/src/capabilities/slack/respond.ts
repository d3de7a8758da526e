/**
 * `slack.respond`: a message through the `response_url` of a slash command or a button press. Slack accepts five
 * messages there, within 30 minutes.
 *
 * Slack supports neither idempotency keys nor lookup. A lost response leaves the message in doubt, and an operator, who
 * can look at the channel, decides. The URL is a secret: its holder can post in the channel.
 */
import { z } from 'zod';
import { NotApplied } from '../../core/errors.ts';
import {
  type Binding,
  type CallOptions,
  defineBinding,
  defineCapability,
} from '../../engine/define/capability.ts';
import type { Clock } from '../../ports/clock.ts';
import { retryAfter } from '../retry-after.ts';
import { wasNeverSent } from '../unsent.ts';

/** Slack truncates a longer text. */
const MAX_TEXT_CHARS = 40_000;
const SLACK_ORIGIN = 'https://hooks.slack.com';
const MAX_URL_CHARS = 2_000;
const TIMEOUT_MS = 10_000;
/** Pause if Slack does not return the duration of its limit. It allows one message a second. */
const DEFAULT_LIMIT_MS = 1_000;
/** Longest response text of Slack that is kept. It is usually a word, or a line of JSON. */
const MAX_REFUSAL_CHARS = 200;

export const slackRespond = defineCapability({
  id: 'slack.respond',
  sideEffects: 'external_action',
  idempotency: 'not_supported',
  request: z.object({
    responseUrl: z.string().max(MAX_URL_CHARS),
    /** Slack's mrkdwn. */
    text: z.string().min(1).max(MAX_TEXT_CHARS),
    /** Visible to the user of the command (default), or to all in the channel. */
    to: z.enum(['user', 'channel']).optional(),
    /** Replaces the message whose button was pressed. A command has no such message. */
    replaceOriginal: z.boolean().optional(),
  }),
  response: z.object({}),
  secrets: { request: ['responseUrl'] },
});

interface SlackRespondOptions {
  /** Origin of Slack's response URLs, without a trailing slash: `https://hooks.slack.com`, or that of a stand-in. */
  readonly baseUrl: string;
  readonly clock: Clock;
}

export function slackRespondBinding({ baseUrl, clock }: SlackRespondOptions): Binding {
  return defineBinding(slackRespond, {
    id: 'slack.respond.fetch',
    async call({ responseUrl, text, to, replaceOriginal }, { signal, traceparent }) {
      const body = {
        text,
        response_type: to === 'channel' ? 'in_channel' : 'ephemeral',
        replace_original: replaceOriginal ?? false,
      };
      const answer = await post(addressOf(responseUrl, baseUrl), body, { signal, clock, traceparent });
      throwUnlessPosted(answer, clock.now());
      return {};
    },
  });
}

/** The URL is external input. Only its path is used, and only if the URL is one of Slack's. */
function addressOf(responseUrl: string, baseUrl: string): URL {
  const url = URL.canParse(responseUrl) ? new URL(responseUrl) : undefined;
  const base = new URL(baseUrl);
  if (url?.origin === SLACK_ORIGIN || url?.origin === base.origin)
    return new URL(`${url.pathname}${url.search}`, base);
  throw new NotApplied(`the response_url is not on ${SLACK_ORIGIN}`, { final: true });
}

interface SlackResponse {
  readonly status: number;
  readonly retryAfter: string | undefined;
  readonly text: string;
}

interface Posting extends Pick<CallOptions, 'signal'> {
  readonly clock: Clock;
  readonly traceparent: string | undefined;
}

async function post(url: URL, body: object, { signal, clock, traceparent }: Posting): Promise<SlackResponse> {
  if (signal.aborted) throw new NotApplied('the message was aborted before it was sent');
  const headers = new Headers({ 'content-type': 'application/json' });
  if (traceparent !== undefined) headers.set('traceparent', traceparent);
  const tooLong = new AbortController();
  const cancel = clock.timer(TIMEOUT_MS, () => tooLong.abort(new Error('no response in time')));
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
      redirect: 'manual',
      signal: AbortSignal.any([signal, tooLong.signal]),
    });
    const text = (await response.text()).slice(0, MAX_REFUSAL_CHARS);
    return { status: response.status, retryAfter: response.headers.get('retry-after') ?? undefined, text };
  } catch (error) {
    // The original error contains the URL, which is secret.
    if (wasNeverSent(error)) throw new NotApplied('Slack could not be reached');
    throw new Error('Slack did not respond to a message');
  } finally {
    cancel();
  }
}

/** @throws NotApplied for a refusal, Error if the message may have been posted */
function throwUnlessPosted({ status, retryAfter: header, text }: SlackResponse, now: number): void {
  const message = `Slack answered ${status} to a message: ${text}`;
  if (status === 429)
    throw new NotApplied(message, { retryAt: retryAfter(header, now) ?? now + DEFAULT_LIMIT_MS });
  if (status === 408 || status >= 500) throw new Error(message);
  // For an expired or used URL Slack responds with 404, or with a 200 whose text is a refusal.
  if (status >= 300 || isRefusal(text)) throw new NotApplied(message, { final: true });
}

function isRefusal(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && 'ok' in value && value.ok === false;
  } catch {
    return false;
  }
}
