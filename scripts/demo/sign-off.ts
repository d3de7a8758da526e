/** Answers the question of the demo's review through the API, several times. */
import { randomUUID } from 'node:crypto';
import { getJson, type Ready } from '../../packages/local/src/cloud-process.ts';
import { waitFor } from './notes.ts';

interface Asking {
  readonly status: string;
  readonly waits?: readonly {
    readonly kind: string;
    readonly execution: { readonly stepId: string };
    readonly detail?: { readonly question: string };
  }[];
}

export interface Question {
  readonly stepId: string;
  readonly text: string;
}

export function question(ready: Ready, runId: string): Promise<Question> {
  return waitFor('the run to ask a person', async () => {
    const { status, waits = [] } = await getJson<Asking>(ready, `/v1/runs/${runId}`);
    const wait = waits.find(({ kind }) => kind === 'approval');
    if (status !== 'awaiting_approval' || !wait?.detail) return undefined;
    return { stepId: wait.execution.stepId, text: wait.detail.question };
  });
}

/** @returns the status of the answer: 200 for the first decision and its repetitions, 409 for a different one */
export async function decide(
  ready: Ready,
  { runId, stepId }: { readonly runId: string; readonly stepId: string },
  decision: string,
): Promise<number> {
  const headers = {
    authorization: `Bearer ${ready.apiKey}`,
    'content-type': 'application/json',
    'idempotency-key': randomUUID(),
  };
  const request = { method: 'POST', headers, body: JSON.stringify({ decision }) };
  // A busy cloud may ask for a repetition of the request.
  return waitFor('an answer to the decision', async () => {
    const response = await fetch(`${ready.gateway}/v1/runs/${runId}/approvals/${stepId}`, request);
    await response.body?.cancel();
    return response.status === 503 ? undefined : response.status;
  });
}
