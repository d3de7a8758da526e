/**
 * Client of an installation's API. Owns the credential of every request, the idempotency key of every change, and
 * bounded retries of unanswered requests.
 *
 * Must not: print, or follow a redirect with the credential.
 */

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
import { type Followed, type Following, followRun } from './follow.ts';
import { type FollowedLog, type FollowingLogs, followLogs } from './follow-logs.ts';
import {
  failedToConnect,
  isInFlight,
  isPassing,
  problemOf,
  Refusal,
  reasonOf,
  retryAfterMs,
  Unreachable,
} from './problem.ts';
import { offsetMs } from './server-clock.ts';
import { targetOf } from './target.ts';
import { type MachineServices, type Reply, THIS_MACHINE } from './transport.ts';

/** Programs of Cairn that the API distinguishes. */
type ClientName = 'api' | 'cli' | 'ui';

/** URL and credential of requests. Members of `MachineServices` default to this machine's. */
export interface ClientOptions extends Partial<MachineServices> {
  /** URL of the installation, without a path; that of the function `api` works too. A slash at its end is dropped. */
  readonly url: string;
  /** An API key or an ID token, or a function that returns one, called for each request because tokens expire. */
  readonly credential: string | (() => string | Promise<string>);
  /** Recorded as the source of runs that this client starts. Default: `api`. */
  readonly name?: ClientName;
  /** Aborts current and later requests. */
  readonly signal?: AbortSignal;
  /** Attempts of one request without a response, or with a temporary error; default 4. */
  readonly attempts?: number;
}

/** An answer of the API, unparsed. */
export interface Exchange {
  readonly status: number;
  readonly headers: Reply['headers'];
  readonly text: string;
  /** Duration, ms. */
  readonly tookMs: number;
  /** The middle of the request by our clock, for comparison with the server's clock. */
  readonly at: number;
}

interface ListBounds {
  readonly limit: number;
  /** Maximum number of requests. Default: as many as the items need. */
  readonly maxPages?: number | undefined;
}

/** Items collected from the pages of a list. */
export interface Listed<Item> {
  readonly items: Item[];
  readonly more: boolean;
  /** Ids of runs. */
  readonly unreadable?: readonly string[] | undefined;
  /** Only the inbox has them. */
  readonly findings?: Answer<'InboxPage'>['findings'] | undefined;
  readonly external?: Answer<'InboxPage'>['external'] | undefined;
  readonly unreadableEffects?: readonly string[] | undefined;
}

/** Attempts of one request. A further one is unlikely to succeed soon. */
const ATTEMPTS = 4;
/** Pause between attempts without `Retry-After`, and its upper limit. */
const PAUSE_MS = 500;
const MAX_PAUSE_MS = 5_000;
/** The API answers every request within 60 s. */
const TIMEOUT_MS = 65_000;
/** The maximum that the API allows a read to wait. */
const LONGEST_WAIT = '50s';
/**
 * Statuses that refuse a waiting read: its tenant (429) or the instance (503) has too many. Google's front end sends them too.
 */
const TOO_MANY_WAITING: ReadonlySet<number> = new Set([429, 503]);
const ENDED: ReadonlySet<string> = new Set(['completed', 'failed', 'cancelled']);
/** Maximum items per page. */
const PAGE = 100;

export class CairnClient {
  /** Without a slash at its end. */
  readonly url: string;
  readonly machine: MachineServices;
  /** Never aborted unless one was given. */
  readonly signal: AbortSignal;
  readonly #credential: ClientOptions['credential'];
  readonly #name: ClientName;
  readonly #attempts: number;
  #offsetMs = 0;

  constructor({ url, credential, name = 'api', signal, attempts = ATTEMPTS, ...machine }: ClientOptions) {
    this.url = url.replace(/\/+$/, '');
    this.machine = { ...THIS_MACHINE, ...machine };
    this.signal = signal ?? new AbortController().signal;
    this.#credential = credential;
    this.#name = name;
    this.#attempts = attempts;
  }

  /** Time of the installation, epoch ms, by its newest response; this machine's clock may differ. */
  now(): number {
    return this.machine.now() + this.#offsetMs;
  }

  /** @throws Refusal, Unreachable */
  async get<P extends PathWith<'GET'>>(
    path: P,
    question: GetRequest<P> = {} as GetRequest<P>,
  ): Promise<AnswerOf<'GET', P>> {
    const { text } = await this.send({ method: 'GET', target: targetOf(path, question) });
    return readAnswer<AnswerOf<'GET', P>>(text);
  }

  /**
   * Collects the first `limit` items. `more`: the list has further items. `unreadable`: ids of runs in it that cannot be read.
   */
  async list<P extends PagedPath>(
    path: P,
    { limit, maxPages = Number.POSITIVE_INFINITY, ...question }: GetRequest<P> & ListBounds,
  ): Promise<Listed<ItemOf<P>>> {
    const items: ItemOf<P>[] = [];
    const unreadable: string[] = [];
    let first: Omit<Listed<ItemOf<P>>, 'items' | 'more' | 'unreadable'> | undefined;
    let cursor: string | undefined;
    let pages = 0;
    do {
      pages += 1;
      const query = { ...question.query, limit: Math.min(PAGE, limit - items.length), cursor };
      const page = (await this.get(path, { ...question, query } as unknown as GetRequest<P>)) as {
        items: ItemOf<P>[];
        next?: string;
        unreadable?: string[];
      } & typeof first;
      items.push(...page.items);
      unreadable.push(...(page.unreadable ?? []));
      first ??= page;
      cursor = page.next;
    } while (cursor !== undefined && items.length < limit && pages < maxPages);
    return {
      items,
      more: cursor !== undefined,
      unreadable: unreadable.length > 0 ? unreadable : undefined,
      findings: first?.findings,
      external: first?.external,
      unreadableEffects: first?.unreadableEffects,
    };
  }

  /**
   * @param change requests with the same `idempotencyKey` are carried out once within a day; default: a new key
   * @throws Refusal, Unreachable with the idempotency key for a retry
   */
  async change<M extends ChangingMethod, P extends PathWith<M>>(
    method: M,
    path: P,
    change: Change<M, P> & { readonly idempotencyKey?: string },
  ): Promise<AnswerOf<M, P>> {
    const key = change.idempotencyKey ?? this.machine.newKey();
    const body = JSON.stringify(change.body ?? {});
    const { text } = await this.send({ method, target: targetOf(path, change), body, key });
    return readAnswer<AnswerOf<M, P>>(text);
  }

  /**
   * Yields each event of a run after a seq once, in order, until the run ends. Reconnects when a stream is interrupted.
   *
   * @throws Refusal, Unreachable after some failures in a row
   */
  follow(runId: string, following: Following = {}): AsyncGenerator<Followed> {
    return followRun(this, runId, following);
  }

  /**
   * Yields each log line and streamed text of a run once, in order, until the run ends. Reconnects when a stream is interrupted.
   * `withLine` assembles streamed text.
   *
   * @throws Refusal, Unreachable after some failures in a row
   */
  followLogs(runId: string, following: FollowingLogs = {}): AsyncGenerator<FollowedLog> {
    return followLogs(this, runId, following);
  }

  /**
   * Resolves with the run when it has ended. No time limit: abort the signal of the client to stop waiting. Polls while the
   * installation accepts no more waiting requests.
   *
   * @throws Refusal, Unreachable
   */
  async untilEnded(runId: string): Promise<AnswerOf<'GET', '/v1/runs/{id}'>> {
    for (;;) {
      try {
        const run = await this.get('/v1/runs/{id}', { params: { id: runId }, query: { wait: LONGEST_WAIT } });
        if (ENDED.has(run.status)) return run;
      } catch (error) {
        if (!(error instanceof Refusal) || !TOO_MANY_WAITING.has(error.problem.status) || this.signal.aborted)
          throw error;
        await this.machine.sleep(retryAfterMs(error.problem) ?? MAX_PAUSE_MS, this.signal);
      }
    }
  }

  /**
   * Sends the request once and returns the response, whatever its status.
   *
   * @throws Unreachable
   */
  async exchange({ method, target, body, key, signal }: Request): Promise<Exchange> {
    const { fetch, now } = this.machine;
    const request = await this.headers({
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(key === undefined ? {} : { 'idempotency-key': key }),
    });
    const began = now();
    try {
      const answer = await fetch(`${this.url}${target}`, {
        method,
        headers: request,
        redirect: 'manual',
        signal: AbortSignal.any([AbortSignal.timeout(TIMEOUT_MS), this.#ends(signal)]),
        ...(body === undefined ? {} : { body }),
      });
      const text = await answer.text();
      const ended = now();
      const { status, headers } = answer;
      this.#offsetMs = offsetMs(headers.get('date'), began, ended) ?? this.#offsetMs;
      return { status, headers, text, tookMs: ended - began, at: (began + ended) / 2 };
    } catch (error) {
      const why = `${this.url} does not respond: ${reasonOf(error)}`;
      throw new Unreachable(why, key, error, 0, !failedToConnect(error));
    }
  }

  async headers(more: Readonly<Record<string, string>> = {}): Promise<Record<string, string>> {
    const credential = typeof this.#credential === 'string' ? this.#credential : await this.#credential();
    return {
      authorization: `Bearer ${credential}`,
      accept: 'application/json',
      'x-cairn-client': this.#name,
      ...more,
    };
  }

  /**
   * Sends the request until there is a definite response; safe, because a change has its key. A `Retry-After` of more
   * than a few seconds is returned to the caller.
   *
   * @returns a success
   * @throws Refusal, Unreachable
   */
  async send(request: Request, attempts: number = this.#attempts): Promise<Exchange> {
    const signal = this.#ends(request.signal);
    let wasSent = false;
    for (let attempt = 1; ; attempt += 1) {
      const isLast = attempt === attempts || signal.aborted;
      const outcome = await this.exchange(request).catch((error: unknown) => {
        if (!(error instanceof Unreachable)) throw error;
        wasSent ||= error.wasSent;
        if (!isLast && !signal.aborted) return undefined;
        const { message, key, cause, status } = error;
        throw new Unreachable(message, key, cause, status, wasSent);
      });
      wasSent ||= outcome !== undefined;
      const pauseMs = pauseOf(outcome, attempt);
      const again = outcome === undefined || (mayPass(outcome) && pauseMs <= MAX_PAUSE_MS);
      if (outcome !== undefined && (!again || isLast)) return settled(outcome, request.key);
      await this.machine.sleep(pauseMs, signal);
    }
  }

  #ends(signal: AbortSignal | undefined): AbortSignal {
    return signal ? AbortSignal.any([signal, this.signal]) : this.signal;
  }
}

export interface Request {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  readonly body?: string;
  /** The idempotency key. */
  readonly key?: string;
  /** Aborts only this request. */
  readonly signal?: AbortSignal;
}

function mayPass({ status, text }: Exchange): boolean {
  return isInFlight(status, text) || (status >= 400 && isPassing(problemOf(status, text)));
}

function settled(outcome: Exchange, key: string | undefined): Exchange {
  const { status, text } = outcome;
  if (isInFlight(status, text)) throw new Unreachable('the same request is in progress', key, undefined, 202);
  if (status >= 200 && status < 300) return outcome;
  throw new Refusal(problemOf(status, text), key);
}

function pauseOf(outcome: Exchange | undefined, attempt: number): number {
  const retryAfter = Number(outcome?.headers.get('retry-after') ?? Number.NaN) * 1_000;
  return Number.isFinite(retryAfter) && retryAfter > 0
    ? retryAfter
    : Math.min(PAUSE_MS * 2 ** (attempt - 1), MAX_PAUSE_MS);
}

/** @throws Refusal for a text that is not of the API */
export function readAnswer<T>(text: string): T {
  try {
    return JSON.parse(text) as T;
  } catch {
    throw new Refusal(problemOf(200, text), undefined);
  }
}
