/**
 * The API for one signed-in person. Owns what requests reveal about the connection; `@cairn/client` sends and repeats
 * requests.
 *
 * Must not: keep the credential anywhere, or send it to another address than this page's own.
 */
import {
  CairnClient,
  type ClientOptions,
  targetOf as filledTarget,
  followStream,
  isPageInPlace,
  ProxyBuffering,
  type QueryValue,
  type Request,
  randomKey,
  readAnswer,
  problemOf as readProblem,
  type Stream,
  type Streamed,
} from '@cairn/client';
import type {
  Answer,
  AnswerOf,
  Change,
  ChangingMethod,
  GetRequest,
  ItemOf,
  PagedPath,
  PathWith,
} from 'cairn/api/calls';
import { deviceNow } from './device-clock.ts';
import { ApiError, isSignedOut, NOT_SENT, OUTCOME_UNKNOWN, problemOf, shownError } from './problem.ts';
import { Reach } from './reach.ts';

export type { Answer, AnswerOf, Change, ChangingMethod, GetRequest, ItemOf, PagedPath, PathWith };

/** Returns an API key or an ID token. Called for each request, because an ID token expires after an hour. */
export type Credential = () => Promise<string>;

type RequestMethod = 'GET' | ChangingMethod;

/** A change as data, so that the `curl` command shown before is exactly the request that is sent. */
export interface ChangeRequest {
  readonly method: RequestMethod;
  /** Path and query. */
  readonly target: string;
  readonly body?: unknown;
}

export class Api {
  readonly reach = new Reach();
  /** Requests of this client wait for a sign-in. They must not change anything, because another person may sign in. */
  readonly #client: CairnClient;
  /** Shared by all streams. */
  readonly #passage = new ProxyBuffering();
  readonly #onRefused: () => boolean;
  #credential: Credential;
  /** Until it resolves, requests wait. */
  #signIn: PromiseWithResolvers<void> | undefined;

  /** @param onRefused called when the credential is not accepted; true: requests wait until `signInAgain` is called */
  constructor(credential: Credential, onRefused: () => boolean) {
    this.#credential = credential;
    this.#onRefused = onRefused;
    this.#client = clientOf({
      // The timeout of a request starts after this call.
      credential: async () => {
        await this.#signIn?.promise;
        return this.#credential();
      },
      fetch: (target, init) => this.#ask(this.#credential, target, init),
    });
  }

  /** Reads that wait, and later requests, are sent with this credential; changes that began before are not sent. */
  signInAgain(credential: Credential): void {
    this.#credential = credential;
    this.#signIn?.resolve();
    this.#signIn = undefined;
  }

  /** Sends the request once, because the component that shows the answer repeats it. @throws ApiError */
  get<P extends PathWith<'GET'>>(
    path: P,
    { signal, ...question }: GetRequest<P> & { readonly signal?: AbortSignal | undefined } = {},
  ): Promise<AnswerOf<'GET', P>> {
    const target = targetOf(path, question);
    return this.#answer({ method: 'GET', target, ...(signal && { signal }) }, 1);
  }

  /** The state of the installation, also if it is unhealthy (status 503). @throws ApiError */
  async health({ signal }: { readonly signal?: AbortSignal } = {}): Promise<Answer<'Health'>> {
    const request: Request = { method: 'GET', target: '/v1/healthz', ...(signal && { signal }) };
    const { status, text } = await this.#client.exchange(request).catch((error: unknown) => {
      throw signal?.aborted ? signal.reason : shownError(error);
    });
    const health = healthIn(text);
    if (health === undefined) throw new ApiError(problemOf(status, text));
    return health;
  }

  /**
   * Asks what a change would do. The request must change nothing, because it waits for a sign-in like a read. Its idempotency
   * key is new, so the API does not repeat an old answer.
   *
   * @throws ApiError
   */
  preview<M extends ChangingMethod, P extends PathWith<M>>(asked: Planned<M, P>): Promise<AnswerOf<M, P>> {
    return this.#answer(requestOf(asked, `console-${randomKey()}`));
  }

  /** @throws ApiError */
  change<M extends ChangingMethod, P extends PathWith<M>>(
    change: Planned<M, P>,
    key: string,
  ): Promise<AnswerOf<M, P>> {
    return this.changer()(change, key);
  }

  /** Sends changes as the person who is signed in now, until the credential is refused or replaced. */
  changer(): Changer {
    const credential = this.#credential;
    return async (change, key) => {
      /** An attempt was sent, and may have been carried out. */
      let isUncertain = false;
      const refusal = () => (isUncertain ? OUTCOME_UNKNOWN : NOT_SENT);
      const client = clientOf({
        credential: async () => {
          if (this.#isReplaced(credential)) throw refusal();
          return credential();
        },
        fetch: async (target, init) => {
          let mayBeDone = true;
          try {
            const answer = await this.#ask(credential, target, init);
            mayBeDone = answer.status < 400 || answer.status >= 500;
            return answer;
          } finally {
            isUncertain ||= mayBeDone;
          }
        },
      });
      try {
        const { text } = await client.send(requestOf(change, key));
        return readAnswer(text);
      } catch (error) {
        const shown = shownError(error);
        throw isSignedOut(shown) && this.#isReplaced(credential) ? refusal() : shown;
      }
    };
  }

  /** A stream of the API, across interruptions and sign-ins. */
  async *follow(stream: Omit<Stream, 'passage'>): AsyncGenerator<Streamed> {
    let { after } = stream;
    for (;;) {
      const credential = this.#credential;
      try {
        for await (const streamed of followStream(this.#client, {
          ...stream,
          after,
          passage: this.#passage,
        })) {
          if (streamed.kind === 'frame') after = streamed.frame.id ?? after;
          yield streamed;
        }
        return;
      } catch (error) {
        if (!isSignedOut(shownError(error)) || !this.#isReplaced(credential)) throw error;
      }
    }
  }

  /** A request whose credential is refused is repeated after the next sign-in. */
  async #answer<T>(request: Request, attempts?: number): Promise<T> {
    for (;;) {
      const credential = this.#credential;
      try {
        const { text } = await this.#client.send(request, attempts);
        return readAnswer<T>(text);
      } catch (error) {
        if (request.signal?.aborted) throw request.signal.reason;
        const shown = shownError(error);
        if (!isSignedOut(shown) || !this.#isReplaced(credential)) throw shown;
      }
    }
  }

  /** True if the credential was replaced since, or will be. */
  #isReplaced(credential: Credential): boolean {
    return this.#signIn !== undefined || this.#credential !== credential;
  }

  async #ask(credential: Credential, target: string, init: RequestInit): Promise<Response> {
    const askedAt = deviceNow();
    let answer: Response;
    try {
      answer = await fetch(target, { ...init, redirect: 'error' });
    } catch (error) {
      if (!init.signal?.aborted || isTimeout(init.signal.reason)) this.reach.lost(askedAt);
      throw error;
    }
    if (isPageInPlace(answer)) {
      this.reach.lost(askedAt);
      const { detail, title } = readProblem(answer.status, await answer.text());
      throw new TypeError(detail ?? title);
    }
    if (await isOfApi(answer)) this.reach.answered(answer.headers.get('date'), askedAt, deviceNow());
    else this.reach.lost(askedAt);
    const isRefused = answer.status === 401 && credential === this.#credential;
    if (isRefused && this.#onRefused()) this.#signIn ??= Promise.withResolvers();
    return answer;
  }
}

function clientOf(options: Required<Pick<ClientOptions, 'credential' | 'fetch'>>): CairnClient {
  // Addresses are below this page's own.
  return new CairnClient({ url: '', name: 'ui', now: deviceNow, ...options });
}

function requestOf({ method, target, body }: ChangeRequest, key: string): Request {
  return { method, target, body: JSON.stringify(body ?? {}), key };
}

/** True if the request timed out; false if its page aborted it. */
function isTimeout(reason: unknown): boolean {
  return reason instanceof DOMException && reason.name === 'TimeoutError';
}

/** False for the answer of a proxy that cannot reach the API. */
async function isOfApi(answer: Response): Promise<boolean> {
  const { status } = answer;
  if (status < 500) return true;
  const text = await answer.clone().text();
  return readProblem(status, text).code !== `HTTP_${status}` || healthIn(text) !== undefined;
}

/** Undefined if the text is no such answer. */
function healthIn(text: string): Answer<'Health'> | undefined {
  try {
    const health = JSON.parse(text) as Partial<Answer<'Health'>> | null;
    const isHealth = typeof health?.status === 'string' && typeof health.version === 'string';
    return isHealth ? (health as Answer<'Health'>) : undefined;
  } catch {
    return undefined;
  }
}

/** A change with the types of its route, made by {@link planned}. */
export type Planned<M extends ChangingMethod, P extends PathWith<M>> = ChangeRequest & {
  readonly method: M;
  readonly route?: P;
};

/** Sends changes as one person. @throws ApiError */
type Changer = <M extends ChangingMethod, P extends PathWith<M>>(
  change: Planned<M, P>,
  key: string,
) => Promise<AnswerOf<M, P>>;

/** The change as it would be sent. */
export function planned<M extends ChangingMethod, P extends PathWith<M>>(
  method: M,
  path: P,
  change: Change<M, P> = {},
): Planned<M, P> {
  return {
    method,
    target: targetOf(path, change),
    body: change.body,
  };
}

/** The path with its parameters and query filled in; empty fields are left out. */
export function targetOf(
  path: string,
  { params, query }: { readonly params?: unknown; readonly query?: Readonly<Record<string, QueryValue>> },
): string {
  const entries = Object.entries(query ?? {}).filter(([, value]) => value !== '');
  return filledTarget(path, { params, query: Object.fromEntries(entries) });
}
