/**
 * Requests to GitHub's REST API through Octokit. Owns their common part: credentials, timeout, and whether a failed request
 * may have been applied.
 *
 * Must not: repeat a request, because only the engine knows whether that is allowed.
 */
import { NotApplied, RetryAt } from '../../core/errors.ts';
import type { Found, LookupOptions } from '../../engine/define/capability.ts';
import { type Clock, pause } from '../../ports/clock.ts';
import { wasNeverSent } from '../unsent.ts';
import { type GithubResponse, judged, limitEnd } from './refusal.ts';

/**
 * A request in the notation of GitHub's documentation: `POST /repos/{owner}/{repo}/…`, and the values of its parameters, query or
 * body. Octokit's own type describes all of GitHub and would slow down every compilation; responses are validated anyway.
 */
type Octokit = (
  route: string,
  parameters: Readonly<Record<string, unknown>>,
) => Promise<{ readonly status: number; readonly data: unknown }>;

export interface GithubApiOptions {
  /** E.g. `https://api.github.com`, without a slash at the end. */
  readonly baseUrl: string;
  /** Called for each request, because tokens of GitHub Apps expire after an hour. If it returns undefined, nothing is sent. */
  readonly token: () => string | undefined | Promise<string | undefined>;
  readonly clock: Clock;
  /**
   * Time after which GitHub has certainly ended an unanswered request, for which it allows 10 s. Only then does a lookup without a
   * result prove that the request was not applied.
   */
  readonly settleMs?: number;
}

const SETTLE_MS = 15_000;
/** Twice the longest time that GitHub takes. */
const TIMEOUT_MS = 20_000;
const API_VERSION = '2022-11-28';
const PAGE_SIZE = 100;

interface GithubCall {
  /** Description of the request, for messages. */
  readonly what: string;
  readonly signal: AbortSignal;
  /** W3C trace context of the call; absent: no collector is configured. */
  readonly traceparent?: string | undefined;
  /** Route as in GitHub's documentation. */
  readonly route: string;
  readonly parameters: Readonly<Record<string, unknown>>;
}

interface LookupCall<T> extends GithubCall {
  readonly maxPages: number;
  /** The validated items of a page. */
  readonly itemsOf: (data: unknown) => readonly T[];
  readonly matches: (item: T) => boolean;
}

export class GithubApi {
  readonly #options: GithubApiOptions;

  constructor(options: GithubApiOptions) {
    this.#options = options;
  }

  /** Sends a request that changes something. @throws NotApplied if it certainly did not, Error if it may have */
  async act(call: GithubCall): Promise<unknown> {
    try {
      return await this.#send(call);
    } catch (error) {
      throw this.#judged(call, error);
    }
  }

  /** Like {@link act}, for requests whose refusal may mean that the wanted state already exists. */
  async ensure(call: GithubCall, isSatisfied: (refusal: GithubResponse) => boolean): Promise<void> {
    try {
      await this.#send(call);
    } catch (error) {
      const answer = answerOf(error);
      if (!answer || !isSatisfied(answer)) throw this.#judged(call, error);
    }
  }

  /** Sends a request that changes nothing. @throws RetryAt while GitHub's limits allow no request, Error otherwise */
  async read(call: GithubCall): Promise<unknown> {
    try {
      return await this.#send(call);
    } catch (error) {
      const answer = answerOf(error);
      // For a read only the missing result matters, not whether the request was applied.
      if (!answer)
        throw error instanceof NotApplied ? new Error(error.message, { cause: error.cause }) : error;
      const message = `GitHub answered ${answer.status} to ${call.what}: ${answer.message}`;
      const retryAt = limitEnd(answer, this.#options.clock.now());
      throw retryAt === undefined ? new Error(message) : new RetryAt(retryAt, message);
    }
  }

  /**
   * Returns the first match in a paged list.
   *
   * @throws Error if it is not in the first `maxPages` pages and there are more: it may still exist
   */
  async findIn<T>({ maxPages, itemsOf, matches, ...call }: LookupCall<T>): Promise<T | undefined> {
    for (let page = 1; page <= maxPages; page += 1) {
      const parameters = { ...call.parameters, per_page: PAGE_SIZE, page };
      const items = itemsOf(await this.read({ ...call, parameters }));
      const found = items.find(matches);
      if (found !== undefined || items.length < PAGE_SIZE) return found;
    }
    throw new Error(`${call.what}: not among the first ${maxPages * PAGE_SIZE}, and there are more`);
  }

  /** Searches. If nothing is found, searches again at a time when a request in progress would have ended. */
  async settled<T>(
    { signal, attemptedAt }: Pick<LookupOptions, 'signal' | 'attemptedAt'>,
    lookUp: () => Promise<Found<T>>,
  ): Promise<Found<T>> {
    const { clock, settleMs = SETTLE_MS } = this.#options;
    const found = await lookUp();
    // If the clock was set back, the attempt appears to be in the future. The wait never exceeds the full time.
    const restMs = Math.min(settleMs, attemptedAt + settleMs - clock.now());
    if (found.found || restMs <= 0) return found;
    await pause(clock, restMs, signal);
    signal.throwIfAborted();
    return lookUp();
  }

  #judged({ what }: Pick<GithubCall, 'what'>, error: unknown): unknown {
    const answer = answerOf(error);
    return answer ? judged(what, answer, this.#options.clock.now()) : error;
  }

  /** @throws NotApplied, or an error with the same meaning: without a token nothing is sent */
  async #token(what: string): Promise<string | undefined> {
    try {
      return await this.#options.token();
    } catch (error) {
      if (this.#judged({ what }, error) instanceof NotApplied) throw error;
      throw new NotApplied(`there is no token now for ${what}`, { cause: error });
    }
  }

  async #send({ what, signal, traceparent, route, parameters }: GithubCall): Promise<unknown> {
    const { baseUrl, clock } = this.#options;
    const bearer = await this.#token(what);
    if (bearer === undefined) throw new NotApplied(`no GITHUB_TOKEN is set for ${what}`, { final: true });
    const { request } = await import('@octokit/request');
    if (signal.aborted) throw new NotApplied(`${what} was aborted before it was sent`);
    const tooLong = new AbortController();
    const cancel = clock.timer(TIMEOUT_MS, () => tooLong.abort(new Error('no response in time')));
    const octokit = request.defaults({
      baseUrl,
      headers: {
        accept: 'application/vnd.github+json',
        authorization: `Bearer ${bearer}`,
        'user-agent': 'cairn',
        'x-github-api-version': API_VERSION,
        traceparent,
      },
      request: {
        signal: AbortSignal.any([signal, tooLong.signal]),
        // Following the redirect would turn a POST into a GET, whose success means nothing.
        redirect: 'manual',
        log: SILENT,
      },
    }) as unknown as Octokit;
    try {
      const { status, data } = await octokit(route, parameters);
      // Octokit treats a redirect as a success.
      if (status >= 300)
        throw new NotApplied(`GitHub answered ${status} to ${what}: it was moved`, { final: true });
      return data;
    } catch (error) {
      if (error instanceof NotApplied || answerOf(error)) throw error;
      if (wasNeverSent(error))
        throw new NotApplied(`GitHub could not be reached for ${what}`, { cause: error });
      throw new Error(`GitHub did not respond to ${what}`, { cause: error });
    } finally {
      cancel();
    }
  }
}

/** Replaces the logger with which Octokit writes deprecation notices to the console. */
const nothing = () => undefined;
const SILENT = { debug: nothing, info: nothing, warn: nothing, error: nothing };

interface RequestError {
  readonly message: string;
  /** Absent if GitHub did not respond. */
  readonly response?: { readonly status: number; readonly headers: GithubResponse['headers'] };
}

/** The GitHub response in an Octokit error. */
function answerOf(error: unknown): GithubResponse | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  const { response, message } = error as RequestError;
  if (!response) return undefined;
  return { status: response.status, headers: response.headers, message: message.slice(0, MAX_REFUSAL_CHARS) };
}

/** An error page can be long, and its beginning is enough. */
const MAX_REFUSAL_CHARS = 300;
