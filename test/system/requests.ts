/** Requests to a local cloud. Programs use them too, so they need nothing of Jest. */
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

/** For {@link eventually}: GET as JSON; undefined unless the status is 200. The worker may have been killed: the next request gets another one. */
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

/** One request as the development client. A test uses it only to see answers of a cloud that is too busy: otherwise {@link send}. */
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
 * A request as the development client. A busy cloud answers 503, and the same request is sent again, as the answer says; without a key it is
 * sent once.
 */
export function send(ready: Ready, { key = randomUUID(), ...sent }: Sent): Promise<Response> {
  const once = () => sendOnce(ready, { ...sent, key });
  return key === null ? once() : untilTaken(ready, `an answer to ${sent.path}`, once);
}

export function startRun(ready: Ready, type: string, input: unknown, key?: string): Promise<Response> {
  return send(ready, { path: '/v1/runs', body: { type, input }, key });
}
