/**
 * The receiver of charges. It runs outside the cloud, so its count is authoritative. Kills the calling worker at a random moment
 * before or after it acts. Some charges are carried out although their caller died, others are lost.
 */
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { seededRandomness } from '../../packages/cairn/src/testing/world/seeded-randomness.ts';

export const RECEIVER_ENV = 'CAIRN_KILLS_RECEIVER';

export const KINDS = ['dedupes', 'looked-up', 'silent'] as const;
export type Kind = (typeof KINDS)[number];

interface Call {
  readonly kind: Kind;
  readonly order: string;
  readonly key: string;
  readonly pid: number;
}

/** Duration of a call, ms; it acts in the middle. */
const CALL_MS = 120;
/** Share of the charges carried out although their caller dies first. */
const CARRIED_OUT = 0.5;

export class Receiver {
  /** Workers killed within a call. */
  kills = 0;
  readonly #seed: number;
  readonly #times = new Map<string, number>();
  readonly #seen = new Set<string>();
  readonly #keys = new Set<string>();
  readonly #server: Server;

  private constructor(seed: number) {
    this.#seed = seed;
    this.#server = createServer(async (request, response) => {
      try {
        const body = await this.#answer(request);
        response.end(JSON.stringify(body));
      } catch (error) {
        response.writeHead(500).end(String(error));
      }
    });
  }

  static async start(seed: number): Promise<Receiver> {
    const receiver = new Receiver(seed);
    await new Promise<void>((resolve) => receiver.#server.listen(0, '127.0.0.1', resolve));
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Number of charges of the order. */
  timesOf(order: string): number {
    return this.#times.get(order) ?? 0;
  }

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  async #answer(request: IncomingMessage): Promise<object> {
    if (request.method === 'GET') return { times: this.timesOf(request.url?.split('/').at(-1) ?? '') };
    let text = '';
    for await (const chunk of request) text += chunk;
    const call = JSON.parse(text) as Call;
    const isFirst = !this.#seen.has(call.order);
    this.#seen.add(call.order);
    if (!isFirst) this.#charge(call);
    else await this.#beKilledIn(call);
    return {};
  }

  async #beKilledIn(call: Call): Promise<void> {
    const random = seededRandomness(this.#seed * 1_000_003 + numberIn(call.order));
    const killAt = random.unit() * CALL_MS;
    const isCarriedOut = random.unit() < CARRIED_OUT;
    const actAt = CALL_MS / 2;
    if (killAt >= actAt) {
      await delay(actAt);
      this.#charge(call);
    }
    await delay(killAt >= actAt ? killAt - actAt : killAt);
    this.#kill(call.pid);
    if (killAt < actAt) {
      await delay(actAt - killAt);
      if (isCarriedOut) this.#charge(call);
    }
  }

  #charge({ kind, order, key }: Call): void {
    if (kind === 'dedupes' && this.#keys.has(key)) return;
    this.#keys.add(key);
    this.#times.set(order, this.timesOf(order) + 1);
  }

  /** Another call may have killed the process first, and counted it. */
  #kill(pid: number): void {
    try {
      process.kill(pid, 'SIGKILL');
      this.kills += 1;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }
}

function numberIn(order: string): number {
  return Number(order.split('-').at(-1));
}
