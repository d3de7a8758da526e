/**
 * One conversation with an installation's API. Owns the key on every request, the idempotency key on every change, and
 * that a request nobody answered is sent again, the same, a few times.
 *
 * Must not: print, or follow a redirect with the key in hand.
 */

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
import type { World } from '../world.ts';
import { problemOf, Refusal, Unreachable } from './problem.ts';

/** Where to and as whom. */
export interface Connection {
  /** Without a slash at its end. */
  readonly url: string;
  readonly apiKey: string;
}

/** An answer as it came. */
export interface Exchange {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** How long it took, ms. */
  readonly tookMs: number;
  /** The middle of that, by our clock: what a clock of the server is compared with. */
  readonly at: number;
}

/** Items of a list, over its pages. */
export interface Listed<Item> {
  readonly items: Item[];
  readonly more: boolean;
  /** Ids of runs. */
  readonly unreadable?: readonly string[];
  /** Only the inbox has them. */
  readonly findings?: Answer<'InboxPage'>['findings'];
}

/** Sendings of one request; what is not done by then will hardly be done in the next second. */
const ATTEMPTS = 4;
/** Between them where the answer does not say, and the most it can say: somebody waits at the terminal. */
const PAUSE_MS = 500;
const MOST_PAUSE_MS = 5_000;
/** The API answers within 60 s, whatever it does. */
const TIMEOUT_MS = 65_000;
/** The most a page holds. */
const PAGE = 100;

export class Api {
  readonly connection: Connection;
  readonly #world: World;
  readonly #key: string | undefined;

  /** @param key the idempotency key of the one change that is made; undefined: a new one each */
  constructor(connection: Connection, world: World, key?: string) {
    this.connection = connection;
    this.#world = world;
    this.#key = key;
  }

  async get<P extends PathWith<'GET'>>(
    path: P,
    question: Question<P> = {} as Question<P>,
  ): Promise<AnswerOf<'GET', P>> {
    const { text } = await this.#send({ method: 'GET', target: targetOf(path, question) });
    return read<AnswerOf<'GET', P>>(text);
  }

  /**
   * The first `limit` items, over as many pages as they take. `more` if there are others, `unreadable` if there are runs among
   * them that cannot be read.
   */
  async list<P extends PagedPath>(
    path: P,
    { limit, ...question }: Question<P> & { readonly limit: number },
  ): Promise<Listed<ItemOf<P>>> {
    const items: ItemOf<P>[] = [];
    const unreadable: string[] = [];
    let findings: Listed<ItemOf<P>>['findings'];
    let cursor: string | undefined;
    do {
      const size = String(Math.min(PAGE, limit - items.length));
      const query = { ...question.query, limit: size, cursor };
      const page = (await this.get(path, { ...question, query } as unknown as Question<P>)) as {
        items: ItemOf<P>[];
        next?: string;
        unreadable?: string[];
        findings?: typeof findings;
      };
      items.push(...page.items);
      unreadable.push(...(page.unreadable ?? []));
      findings ??= page.findings;
      cursor = page.next;
    } while (cursor !== undefined && items.length < limit);
    return {
      items,
      more: cursor !== undefined,
      ...(unreadable.length > 0 ? { unreadable } : {}),
      ...(findings ? { findings } : {}),
    };
  }

  /** @throws Refusal, Unreachable with the idempotency key under which the same can be asked again */
  async change<M extends ChangingMethod, P extends PathWith<M>>(
    method: M,
    path: P,
    change: Change<M, P>,
  ): Promise<AnswerOf<M, P>> {
    const key = this.#key ?? `cli-${this.#world.token()}`;
    const body = JSON.stringify(change.body ?? {});
    const { text } = await this.#send({ method, target: targetOf(path, change), body, key });
    return read<AnswerOf<M, P>>(text);
  }

  /** One sending, whatever the answer. @throws Unreachable */
  async exchange({ method, target, body, key }: Sending): Promise<Exchange> {
    const { url } = this.connection;
    const began = this.#world.now();
    try {
      const answer = await this.#world.fetch(`${url}${target}`, {
        method,
        headers: this.headers({
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...(key === undefined ? {} : { 'idempotency-key': key }),
        }),
        redirect: 'manual',
        signal: AbortSignal.any([AbortSignal.timeout(TIMEOUT_MS), this.#world.interrupted]),
        ...(body === undefined ? {} : { body }),
      });
      const text = await answer.text();
      const ended = this.#world.now();
      const { status, headers } = answer;
      return { status, headers, text, tookMs: ended - began, at: (began + ended) / 2 };
    } catch (error) {
      throw new Unreachable(`${url} does not answer: ${reasonOf(error)}`, key, error);
    }
  }

  headers(more: Readonly<Record<string, string>> = {}): Record<string, string> {
    const { apiKey } = this.connection;
    return {
      authorization: `Bearer ${apiKey}`,
      accept: 'application/json',
      'x-cairn-client': 'cli',
      ...more,
    };
  }

  /** Sends the same until there is an answer that says something; safe, since a change carries its key. */
  async #send(sending: Sending): Promise<Exchange> {
    for (let attempt = 1; ; attempt += 1) {
      const isLast = attempt === ATTEMPTS || this.#world.interrupted.aborted;
      const outcome = await this.exchange(sending).catch((error: unknown) => {
        if (isLast || this.#world.interrupted.aborted) throw error;
        return undefined;
      });
      const again = outcome === undefined || isPassing(outcome);
      if (outcome !== undefined && (!again || isLast)) return settled(outcome, sending.key);
      await this.#world.sleep(pauseOf(outcome, attempt), this.#world.interrupted);
    }
  }
}

interface Sending {
  readonly method: string;
  readonly target: string;
  readonly body?: string;
  readonly key?: string;
}

/** Under way elsewhere, too many at once, or not at the moment. */
function isPassing({ status }: Exchange): boolean {
  return status === 202 || status === 429 || status === 503;
}

function settled(outcome: Exchange, key: string | undefined): Exchange {
  const { status, text } = outcome;
  if (status === 202) throw new Unreachable('the same request is under way elsewhere', key);
  if (status >= 200 && status < 300) return outcome;
  throw new Refusal(problemOf(status, text), key);
}

function pauseOf(outcome: Exchange | undefined, attempt: number): number {
  const said = Number(outcome?.headers.get('retry-after') ?? Number.NaN) * 1_000;
  const pause = Number.isFinite(said) && said > 0 ? said : PAUSE_MS * 2 ** (attempt - 1);
  return Math.min(pause, MOST_PAUSE_MS);
}

/** The path with its parameters and query filled in. */
export function targetOf(
  path: string,
  {
    params,
    query,
  }: { readonly params?: unknown; readonly query?: Readonly<Record<string, string | undefined>> },
): string {
  const values = (params ?? {}) as Readonly<Record<string, string>>;
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(values[name] ?? ''));
  const asked = Object.entries(query ?? {}).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  return asked.length === 0 ? filled : `${filled}?${new URLSearchParams(asked)}`;
}

function read<T>(text: string): T {
  try {
    return JSON.parse(text) as T;
  } catch {
    throw new Refusal(problemOf(200, text), undefined);
  }
}

/** What the network said, without the wrapping of `fetch`. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  if (cause instanceof AggregateError) return reasonOf(cause.errors[0]);
  return cause instanceof Error ? reasonOf(cause) : error.message;
}
