/**
 * Owns the meaning of an unsuccessful response of GitHub: not applied and to be retried at a given time, permanently not
 * applied, or unknown.
 *
 * Must not: treat a server error (5xx) as a refusal, because the request may have been applied.
 */
import { NotApplied } from '../../core/errors.ts';
import { capped, retryAfter } from '../retry-after.ts';

export interface GithubResponse {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | number | undefined>>;
  /** Message from GitHub. */
  readonly message: string;
}

/** "Wait for at least one minute" if no header has a time (GitHub, "Rate limits for the REST API"). */
const DEFAULT_LIMIT_MS = 60_000;
/** GitHub's reset time has whole seconds. */
const RESET_SLACK_MS = 1_000;
const SECONDARY = /secondary rate limit|abuse detection/i;

/**
 * Classifies the failure of a request that would have changed something.
 *
 * @param what description of the request, for the message
 */
export function judged(what: string, answer: GithubResponse, now: number): Error {
  const { status } = answer;
  const message = `GitHub answered ${status} to ${what}: ${answer.message}`;
  const retryAt = limitEnd(answer, now);
  if (retryAt !== undefined) return new NotApplied(message, { retryAt });
  // A proxy timed out, or the server failed: the outcome of the request is unknown.
  if (status === 408 || status >= 500) return new Error(message);
  // Two concurrent requests conflicted. The next one may pass.
  if (status === 409) return new NotApplied(message);
  return new NotApplied(message, { final: true });
}

/** Time at which GitHub's limits allow the next request; undefined if they did not refuse this one. */
export function limitEnd({ status, headers, message }: GithubResponse, now: number): number | undefined {
  if (status !== 403 && status !== 429) return undefined;
  const delayMs = retryAfter(headerOf(headers, 'retry-after'), now);
  if (delayMs !== undefined) return delayMs;
  const reset = Number(headerOf(headers, 'x-ratelimit-reset'));
  if (headerOf(headers, 'x-ratelimit-remaining') === '0' && reset > 0)
    return capped(reset * 1000 + RESET_SLACK_MS, now);
  return status === 429 || SECONDARY.test(message) ? now + DEFAULT_LIMIT_MS : undefined;
}

function headerOf(headers: GithubResponse['headers'], name: string): string | undefined {
  const value = headers[name];
  return value === undefined ? undefined : String(value);
}
