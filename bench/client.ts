/**
 * Calls the API like a service: HTTP/1.1 with keep-alive. Uses `node:http`, because CPU time of this process reduces what is
 * measured.
 *
 * Must not: know workloads, or read a run except through the API.
 */
import { Agent, request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { CairnClient, type Fetch, Refusal, type Reply, type RunEvent } from '@cairn/client';
import type { Answer } from 'cairn/api/calls';
import type { Ready } from '../packages/local/src/cloud-process.ts';

type EventView = RunEvent;
export type RunView = Pick<Answer<'Run'>, 'id' | 'status' | 'completedAt' | 'error'>;

/** Enough for every journal of the benchmark: the longest run has 5,000 steps with one event each. */
const MAX_EVENTS = 10_000;

/** Longer than any run of the benchmark takes. */
export const LIMIT_MS = 300_000;
const WAIT = '50s';
const RETRY_MS = 100;
const OVER = new Set(['completed', 'failed', 'cancelled']);

export const isOver = ({ status }: RunView): boolean => OVER.has(status);

export function assertCompleted({ id, status }: RunView): void {
  if (status !== 'completed') throw new Error(`run ${id} ended as ${status}`);
}

export class Client {
  readonly #agent = new Agent({ keepAlive: true, scheduling: 'lifo' });
  readonly #api: CairnClient;

  constructor({ gateway, apiKey }: Ready) {
    const fetch = sendingBy(this.#agent);
    // A measurement is one request, so none is repeated.
    this.#api = new CairnClient({ url: gateway, credential: apiKey, attempts: 1, fetch });
  }

  /** Starts a run. @throws Error unless it was started, now or earlier with the same key */
  async start(type: string, options: { input?: object; key?: string } = {}): Promise<string> {
    const { input = {}, key } = options;
    const body = JSON.stringify({ type, input });
    const keyed = key === undefined ? {} : { key };
    // Not `change`, which sends a key with each request, so that the store writes a record.
    const { status, text } = await this.#api.exchange({ method: 'POST', target: '/v1/runs', body, ...keyed });
    if (status !== 201 && status !== 200) throw new Error(`start of ${type}: ${status} ${text}`);
    return (JSON.parse(text) as Answer<'RunStarted'>).runId;
  }

  run(runId: string): Promise<RunView> {
    return this.#api.get('/v1/runs/{id}', { params: { id: runId } });
  }

  /**
   * Waits for the end of a run by a request that is answered at the end.
   *
   * @throws Error if it does not complete in time
   */
  async completed(runId: string): Promise<void> {
    const deadline = performance.now() + LIMIT_MS;
    for (;;) {
      const run = await this.#afterWait(runId);
      if (run && isOver(run)) return assertCompleted(run);
      if (performance.now() > deadline) throw new Error(`run ${runId} is not completed after ${LIMIT_MS} ms`);
      if (!run) await delay(RETRY_MS);
    }
  }

  /** Undefined if the worker that handled the request died. */
  async #afterWait(runId: string): Promise<RunView | undefined> {
    try {
      return await this.#api.get('/v1/runs/{id}', { params: { id: runId }, query: { wait: WAIT } });
    } catch (error) {
      if (error instanceof Refusal && [502, 503].includes(error.problem.status)) return undefined;
      throw error;
    }
  }

  /** The whole journal of a run, oldest first. */
  async events(runId: string): Promise<readonly EventView[]> {
    const listing = { params: { id: runId }, limit: MAX_EVENTS };
    const { items, more } = await this.#api.list('/v1/runs/{id}/events', listing);
    if (more) throw new Error(`run ${runId} has more than ${MAX_EVENTS} events`);
    return items;
  }

  close(): void {
    this.#agent.destroy();
  }
}

function sendingBy(agent: Agent): Fetch {
  return (url, { method = 'GET', headers, body }) =>
    new Promise((resolve, reject) => {
      const sent = typeof body === 'string' ? body : '';
      const outgoing = request(url, {
        agent,
        method,
        headers: { ...(headers as Record<string, string>), 'content-length': Buffer.byteLength(sent) },
      });
      outgoing.on('response', (answer) => {
        let text = '';
        answer.setEncoding('utf8');
        answer.on('data', (chunk: string) => {
          text += chunk;
        });
        answer.on('end', () => resolve(replyOf(answer, text)));
        answer.on('error', reject);
      });
      outgoing.on('error', reject);
      outgoing.end(sent);
    });
}

function replyOf(
  { statusCode = 0, headers }: { statusCode?: number | undefined; headers: NodeJS.Dict<string | string[]> },
  text: string,
): Reply {
  const get = (name: string) => String(headers[name] ?? '') || null;
  return { status: statusCode, headers: { get }, body: null, text: async () => text };
}
