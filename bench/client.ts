/**
 * A caller of the API as a service would be one: HTTP/1.1 over connections that are kept. Uses `node:http`, because the
 * CPU this process takes is missing from what it measures.
 *
 * Must not: know of workloads, or look at a run except through the API.
 */
import { Agent, request } from 'node:http';
import type { Ready } from '../packages/local/src/cloud-process.ts';

export interface Answer {
  readonly status: number;
  readonly body: string;
}

export interface RunView {
  readonly id: string;
  readonly status: string;
  readonly createdAt: string;
}

export interface EventView {
  readonly seq: number;
  readonly type: string;
  readonly at: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** The most the API gives at once. */
const PAGE = 100;
/** No list of a benchmark is longer: the longest run has 5,000 steps with one event each, and a few around them. */
const MAX_PAGES = 100;

export class Client {
  readonly #gateway: URL;
  readonly #authorization: string;
  readonly #agent = new Agent({ keepAlive: true, scheduling: 'lifo' });

  constructor({ gateway, apiKey }: Ready) {
    this.#gateway = new URL(gateway);
    this.#authorization = `Bearer ${apiKey}`;
  }

  /** Starts a run. @throws Error unless it was started, or had been with the same key */
  async start(type: string, options: { input?: object; key?: string } = {}): Promise<string> {
    const { input = {}, key } = options;
    const { status, body } = await this.#send('POST', '/v1/runs', {
      body: JSON.stringify({ type, input }),
      headers: key === undefined ? {} : { 'idempotency-key': key },
    });
    if (status !== 201 && status !== 200) throw new Error(`start of ${type}: ${status} ${body}`);
    return (JSON.parse(body) as { runId: string }).runId;
  }

  async run(runId: string): Promise<RunView> {
    const { status, body } = await this.#send('GET', `/v1/runs/${runId}`);
    if (status !== 200) throw new Error(`run ${runId}: ${status} ${body}`);
    return JSON.parse(body) as RunView;
  }

  /** The newest run of a type. Undefined if there is none, or a worker that died took the question with it. */
  async newest(type: string): Promise<RunView | undefined> {
    const { status, body } = await this.#send('GET', `/v1/runs?type=${type}&limit=1`);
    if (status === 502 || status === 503) return undefined;
    if (status !== 200) throw new Error(`newest ${type}: ${status} ${body}`);
    return (JSON.parse(body) as { items: RunView[] }).items[0];
  }

  /** The newest completed runs, newest first. */
  async completed(limit: number): Promise<readonly RunView[]> {
    return (await this.#page<RunView>(`/v1/runs?status=completed&limit=${limit}`)).items;
  }

  /** The whole journal of a run, oldest first. */
  async events(runId: string): Promise<readonly EventView[]> {
    const events: EventView[] = [];
    let cursor = '';
    for (let page = 0; page < MAX_PAGES; page += 1) {
      const { items, next } = await this.#page<EventView>(
        `/v1/runs/${runId}/events?limit=${PAGE}${cursor && `&cursor=${encodeURIComponent(cursor)}`}`,
      );
      events.push(...items);
      if (next === undefined) return events.sort((a, b) => a.seq - b.seq);
      cursor = next;
    }
    throw new Error(`run ${runId} has more than ${MAX_PAGES * PAGE} events`);
  }

  close(): void {
    this.#agent.destroy();
  }

  async #page<T>(path: string): Promise<{ items: T[]; next?: string }> {
    const { status, body } = await this.#send('GET', path);
    if (status !== 200) throw new Error(`GET ${path}: ${status} ${body}`);
    return JSON.parse(body) as { items: T[]; next?: string };
  }

  #send(
    method: 'GET' | 'POST',
    path: string,
    { body = '', headers = {} }: { body?: string; headers?: Record<string, string> } = {},
  ): Promise<Answer> {
    const { hostname, port } = this.#gateway;
    return new Promise((resolve, reject) => {
      const outgoing = request({
        agent: this.#agent,
        hostname,
        port,
        method,
        path,
        headers: {
          authorization: this.#authorization,
          ...(body === ''
            ? {}
            : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
          ...headers,
        },
      });
      outgoing.on('response', (answer) => {
        let text = '';
        answer.setEncoding('utf8');
        answer.on('data', (chunk: string) => {
          text += chunk;
        });
        answer.on('end', () => resolve({ status: answer.statusCode ?? 0, body: text }));
        answer.on('error', reject);
      });
      outgoing.on('error', reject);
      outgoing.end(body);
    });
  }
}
