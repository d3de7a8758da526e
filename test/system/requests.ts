/** Requests to a local cloud. Programs use them too, so they need nothing of Jest. */
import type { Ready } from '../../packages/local/src/cloud-process.ts';
import { waitFor as eventually } from '../../scripts/demo/notes.ts';

export { eventually };

export interface RunView {
  readonly id: string;
  readonly status: string;
  readonly resumeCount: number;
  readonly durationMs?: number;
  readonly error?: { readonly code: string };
}

const GET_LIMIT_MS = 10_000;

/** GET as JSON; undefined unless the status is 200. The worker may have been killed: the next request gets another one. */
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

export async function startRun(ready: Ready, type: string, input: unknown, key?: string): Promise<Response> {
  return fetch(`${ready.gateway}/v1/runs`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${ready.apiKey}`,
      'content-type': 'application/json',
      ...(key === undefined ? {} : { 'idempotency-key': key }),
    },
    body: JSON.stringify({ type, input }),
  });
}
