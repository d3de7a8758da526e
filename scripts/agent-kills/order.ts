/** Follows one agent from start to end, and resolves effects in doubt by the count of the receiver, as a person would. */
import type { Ready } from '../../packages/local/src/cloud-process.ts';
import { waitFor } from '../demo/notes.ts';
import type { Kind, Receiver } from './receiver.ts';

export interface Outcome {
  readonly order: string;
  readonly kind: Kind;
  readonly runId: string;
  readonly status: string;
  readonly asked: boolean;
  /** Number of actions of the receiver. */
  readonly times: number;
}

interface Run {
  readonly status: string;
  readonly waits: readonly { readonly effectId?: string }[];
}

const ENDED = ['completed', 'failed', 'cancelled'];
const REQUEST_LIMIT_MS = 20_000;

/** True if the order was charged once and the run completed. */
export function isRight({ status, times }: Pick<Outcome, 'status' | 'times'>): boolean {
  return status === 'completed' && times === 1;
}

/** @throws Error if the run does not end in time */
export async function follow(
  ready: Ready,
  receiver: Receiver,
  { order, kind, limitMs }: { readonly order: string; readonly kind: Kind; readonly limitMs: number },
): Promise<Outcome> {
  const body = { type: 'charging-agent', input: { order, kind } };
  const started = await waitFor(
    `order ${order} to start`,
    () => asked(ready, '/v1/runs', body, order),
    limitMs,
  );
  const { runId } = started as { runId: string };
  let wasAsked = false;
  let last: unknown;
  const run = await waitFor(
    `run ${runId} of order ${order} (${kind}) to end`,
    async () => {
      const now = (await asked(ready, `/v1/runs/${runId}`)) as Run | undefined;
      last = now ?? last;
      const effectId = now?.waits.find((wait) => wait.effectId !== undefined)?.effectId;
      if (effectId !== undefined) {
        wasAsked = true;
        await resolve(ready, { runId, effectId, happened: receiver.timesOf(order) > 0 });
      }
      return now && ENDED.includes(now.status) ? now : undefined;
    },
    limitMs,
  ).catch((error: Error) => {
    throw new Error(`${error.message}; it was last seen as ${JSON.stringify(last)}`);
  });
  return { order, kind, runId, status: run.status, asked: wasAsked, times: receiver.timesOf(order) };
}

async function resolve(
  ready: Ready,
  {
    runId,
    effectId,
    happened,
  }: { readonly runId: string; readonly effectId: string; readonly happened: boolean },
): Promise<void> {
  const path = `/v1/runs/${runId}/effects/${encodeURIComponent(effectId)}/resolve`;
  const body = happened
    ? { outcome: 'recorded', result: { charged: true } }
    : { outcome: 're-execute', note: 'the receiver did not charge' };
  await asked(ready, path, body, `${effectId}-${happened}`);
}

/** Undefined if no worker responded, so that the caller repeats the request. */
async function asked(ready: Ready, path: string, body?: object, key?: string): Promise<unknown> {
  try {
    const response = await fetch(ready.gateway + path, {
      headers: {
        authorization: `Bearer ${ready.apiKey}`,
        'content-type': 'application/json',
        ...(key === undefined ? {} : { 'idempotency-key': key }),
      },
      signal: AbortSignal.timeout(REQUEST_LIMIT_MS),
      ...(body && { method: 'POST', body: JSON.stringify(body) }),
    });
    const answer: unknown = await response.json();
    return response.ok ? answer : undefined;
  } catch {
    return undefined;
  }
}
