/** Actions of the shop's customer and developer: an order by its function, a run of its workflow, a view of the console. */
import { createHmac } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';

export interface Cloud {
  /** Cairn's console and API. */
  readonly gateway: string;
  /** The shop's own site. */
  readonly site: string;
  readonly apiKey: string;
  readonly pids: { readonly cloud: number };
}

interface ShopRun {
  readonly runId: string;
  readonly runMs: number;
}

const ORDER = { orderId: 'order-1', customerId: 'ada', amountCents: 1200 };
const ANSWER_LIMIT_MS = 60_000;
const RUN_LIMIT_MS = 60_000;
const LOOK_MS = 25;

/** @throws Error naming the unexpected result */
export async function orderAndCharge(cloud: Cloud, stripeKey: string): Promise<ShopRun> {
  const signature = createHmac('sha256', stripeKey).update(ORDER.orderId).digest('hex');
  const placed = await call(`${cloud.site}/api/orders`, { json: ORDER });
  expectEqual("the shop's own function", placed, { orderId: ORDER.orderId, token: signature });

  const begun = performance.now();
  const api = `${cloud.gateway}/v1/runs`;
  const { apiKey } = cloud;
  const input = { orderId: ORDER.orderId };
  const { runId } = (await call(api, { apiKey, json: { type: 'charge-order', input } })) as { runId: string };
  const run = await ended(`${api}/${runId}`, apiKey);
  const runMs = performance.now() - begun;
  const paid = { state: 'paid', signature, paidCents: ORDER.amountCents };
  expectEqual(
    'the run',
    { status: run.status, result: run.result },
    { status: 'completed', result: { paid } },
  );
  return { runId, runMs };
}

/** The page of the run, the script that it loads, and the list that the console begins with. */
export async function seenInConsole({ gateway, apiKey }: Cloud, runId: string): Promise<void> {
  const page = await text(`${gateway}/runs/${runId}`);
  const [, script] = /<script[^>]+src="([^"]+)"/.exec(page) ?? [];
  if (script === undefined) throw new Error(`the console's page of the run loads no script:\n${page}`);
  await text(new URL(script, gateway).href);
  const { items } = (await call(`${gateway}/v1/runs`, { apiKey })) as { items: readonly { id: string }[] };
  expectEqual(
    'the list of runs',
    items.map(({ id }) => id),
    [runId],
  );
}

async function ended(url: string, apiKey: string) {
  const limit = performance.now() + RUN_LIMIT_MS;
  for (;;) {
    const run = (await call(url, { apiKey })) as { status: string; result?: unknown; error?: unknown };
    if (['completed', 'failed', 'cancelled'].includes(run.status)) return run;
    if (performance.now() > limit) throw new Error(`the run has not ended: ${JSON.stringify(run)}`);
    await delay(LOOK_MS);
  }
}

interface Calling {
  readonly apiKey?: string;
  /** Body to POST. Default: a GET request. */
  readonly json?: unknown;
}

async function call(url: string, { apiKey, json }: Calling): Promise<unknown> {
  return JSON.parse(
    await text(url, {
      ...(json !== undefined && { method: 'POST', body: JSON.stringify(json) }),
      headers: {
        'content-type': 'application/json',
        ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
      },
    }),
  );
}

async function text(url: string, init: RequestInit = {}): Promise<string> {
  const answer = await fetch(url, { ...init, signal: AbortSignal.timeout(ANSWER_LIMIT_MS) });
  const body = await answer.text();
  if (!answer.ok) throw new Error(`${url} answers ${answer.status}: ${body}`);
  return body;
}

function expectEqual(what: string, is: unknown, wanted: unknown): void {
  if (isDeepStrictEqual(is, wanted)) return;
  throw new Error(`${what}: ${JSON.stringify(is)} in place of ${JSON.stringify(wanted)}`);
}
