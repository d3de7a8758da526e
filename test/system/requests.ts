/** Requests to a local cloud, independent of Jest, because programs use them too. */
import { randomUUID } from 'node:crypto';
import type { Ready } from '../../packages/local/src/cloud-process.ts';
import { waitFor as eventually } from '../../scripts/demo/notes.ts';
import { untilTaken } from '../../scripts/demo/refusals.ts';

export { eventually };

export interface RunView {
  readonly id: string;
  readonly status: string;
  readonly resumeCount: number;
  readonly durationMs?: number;
  readonly error?: { readonly code: string };
}

const GET_LIMIT_MS = 10_000;

/** GET as JSON for {@link eventually}; undefined unless the status is 200, because the worker may have been killed. */
export async function tryGet<T>(ready: Ready, path: string): Promise<T | undefined> {
  const headers = { authorization: `Bearer ${ready.apiKey}` };
  try {
    const response = await fetch(ready.gateway + path, {
      headers,
      signal: AbortSignal.timeout(GET_LIMIT_MS),
    });
    return response.status === 200 ? ((await response.json()) as T) : undefined;
  } catch {
    return undefined;
  }
}

export function ended(ready: Ready, runId: string): Promise<RunView> {
  return eventually(`run ${runId} to end`, async () => {
    const run = await tryGet<RunView>(ready, `/v1/runs/${runId}`);
    return run && ['completed', 'failed', 'cancelled'].includes(run.status) ? run : undefined;
  });
}

interface Sent {
  readonly method?: 'POST' | 'PUT';
  readonly path: string;
  readonly body?: unknown;
  /** Idempotency key; null sends none. Default: a new one. */
  readonly key?: string | null | undefined;
}

/** Sends one request as the development client. Use {@link send} except to see the answers of a busy cloud. */
export function sendOnce(
  ready: Ready,
  { method = 'POST', path, body = {}, key = randomUUID() }: Sent,
): Promise<Response> {
  return fetch(ready.gateway + path, {
    method,
    headers: {
      authorization: `Bearer ${ready.apiKey}`,
      'content-type': 'application/json',
      ...(key !== null && { 'idempotency-key': key }),
    },
    body: JSON.stringify(body),
  });
}

/**
 * Sends a request as the development client, and repeats it after a 503 of a busy cloud. Without a key it is sent once.
 */
export function send(ready: Ready, { key = randomUUID(), ...sent }: Sent): Promise<Response> {
  const once = () => sendOnce(ready, { ...sent, key });
  return key === null ? once() : untilTaken(ready, `an answer to ${sent.path}`, once);
}

export function startRun(ready: Ready, type: string, input: unknown, key?: string): Promise<Response> {
  return send(ready, { path: '/v1/runs', body: { type, input }, key });
}
