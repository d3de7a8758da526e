/**
 * One conversation with the API, as somebody. Owns the credential on every request, the idempotency key on every change,
 * and that a change nobody answered is sent again, the same.
 *
 * Must not: keep the credential anywhere, or send it to another address than this page's own.
 */
import { targetOf as filledTarget } from '@cairn/client';
import type {
  Answer,
  AnswerOf,
  Change,
  ChangingMethod,
  ItemOf,
  PagedPath,
  PathWith,
  Question,
} from 'cairn/api/calls';
import { deviceNow } from './device-clock.ts';
import { Passage } from './passage.ts';
import { ApiError, isPassing, type Problem, problemOf, unreachable } from './problem.ts';
import { Reach } from './reach.ts';

export type { Answer, AnswerOf, ChangingMethod, ItemOf, PagedPath, PathWith };

export type Method = 'GET' | ChangingMethod;

/** A change as data: shown as `curl` before it is sent, and sent as shown. */
export interface Sending {
  readonly method: Method;
  /** Path and query. */
  readonly target: string;
  readonly body?: unknown;
}

/** Sendings of one change, with a pause between them that doubles. */
const ATTEMPTS = 4;
const PAUSE_MS = 400;
const MOST_PAUSE_MS = 5_000;
/** The API answers within 60 s, whatever it does. */
const TIMEOUT_MS = 65_000;

export class Api {
  /** What streams have found of the way to the API. */
  readonly passage = new Passage();
  readonly reach = new Reach();
  readonly #credential: () => Promise<string>;
  readonly #onRefused: () => void;

  /**
   * @param credential an API key or an ID token, asked for with each request since tokens expire
   * @param onRefused told when the credential is not, or no longer, accepted
   */
  constructor(credential: () => Promise<string>, onRefused: () => void) {
    this.#credential = credential;
    this.#onRefused = onRefused;
  }

  /** @throws ApiError */
  async get<P extends PathWith<'GET'>>(
    path: P,
    question: Question<P> & { readonly signal?: AbortSignal } = {},
  ): Promise<AnswerOf<'GET', P>> {
    const answer = await this.#send({ method: 'GET', target: targetOf(path, question) }, question.signal);
    return (await answer.json()) as AnswerOf<'GET', P>;
  }

  /** Asks something that changes nothing by POST, or changes it. @throws ApiError */
  async change<M extends ChangingMethod, P extends PathWith<M>>(
    sending: Planned<M, P>,
    key: string,
  ): Promise<AnswerOf<M, P>> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        const answer = await this.#send(sending, undefined, key);
        if (answer.status !== 202) return (await answer.json()) as AnswerOf<M, P>;
        throw new ApiError(problemOf(202, await answer.text()));
      } catch (error) {
        if (attempt === ATTEMPTS || !isPassing(error)) throw error;
        const pauseMs = Math.min(PAUSE_MS * 2 ** (attempt - 1), MOST_PAUSE_MS);
        const wantedMs = error instanceof ApiError ? (error.problem.retryAfterMs ?? 0) : 0;
        // Asked to stay away for longer, this is not the place to wait: who asked is told, and may.
        if (wantedMs > MOST_PAUSE_MS) throw error;
        await new Promise((resolve) => setTimeout(resolve, Math.max(pauseMs, wantedMs)));
      }
    }
  }

  /** An answer that is read piece by piece. @throws ApiError unless it is a success */
  stream(target: string, headers: Readonly<Record<string, string>>, signal: AbortSignal): Promise<Response> {
    return this.#ask({ method: 'GET', target }, { accept: 'text/event-stream', ...headers }, signal);
  }

  #send(sending: Sending, signal?: AbortSignal, key?: string): Promise<Response> {
    const timeout = AbortSignal.timeout(TIMEOUT_MS);
    const headers = { accept: 'application/json', ...(key === undefined ? {} : { 'idempotency-key': key }) };
    return this.#ask(sending, headers, signal ? AbortSignal.any([signal, timeout]) : timeout);
  }

  async #ask(
    { method, target, body }: Sending,
    headers: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<Response> {
    const authorization = `Bearer ${await this.#credential()}`;
    const hasBody = method !== 'GET';
    const askedAt = deviceNow();
    let answer: Response;
    try {
      answer = await fetch(target, {
        method,
        headers: {
          ...headers,
          authorization,
          'x-cairn-client': 'ui',
          ...(hasBody ? { 'content-type': 'application/json' } : {}),
        },
        signal,
        redirect: 'error',
        ...(hasBody ? { body: JSON.stringify(body ?? {}) } : {}),
      });
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      this.reach.lost(askedAt);
      throw unreachable(error);
    }
    const hear = () => this.reach.heard(answer.headers.get('date'), askedAt, deviceNow());
    if (answer.ok) {
      hear();
      return answer;
    }
    const problem = problemOf(answer.status, await answer.text());
    if (isOfApi(problem)) hear();
    else this.reach.lost(askedAt);
    if (answer.status === 401) this.#onRefused();
    throw new ApiError(problem);
  }
}

/** Whoever stands before the API and cannot reach it answers in its place, and in other words. */
function isOfApi({ status, code }: Problem): boolean {
  return status < 500 || code !== `HTTP_${status}`;
}

/** A change of one route, typed by it; made by {@link planned}. */
export type Planned<M extends ChangingMethod, P extends PathWith<M>> = Sending & {
  readonly method: M;
  readonly route?: P;
};

/** The change as it would be sent. */
export function planned<M extends ChangingMethod, P extends PathWith<M>>(
  method: M,
  path: P,
  change: Change<M, P> = {},
): Planned<M, P> {
  return {
    method,
    target: targetOf(path, change),
    ...(change.body === undefined ? {} : { body: change.body }),
  };
}

/** The path with its parameters and query filled in; a field that was left empty asks nothing. */
export function targetOf(
  path: string,
  {
    params,
    query,
  }: { readonly params?: unknown; readonly query?: Readonly<Record<string, string | undefined>> },
): string {
  const asked = Object.entries(query ?? {}).filter(([, value]) => value !== '');
  return filledTarget(path, { params, query: Object.fromEntries(asked) });
}
