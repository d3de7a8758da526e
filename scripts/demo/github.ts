/** State of the demo's pull request on the GitHub stand-in, and the delay of its response to a comment. */
import { control, type Ready } from '../../packages/local/src/cloud-process.ts';
import type { RecordedCall } from '../../packages/local/src/stand-in/store.ts';
import type { Delivery } from './delivery.ts';
import { waitFor } from './notes.ts';

interface Payload {
  readonly pull_request: { readonly number: number; readonly head: { readonly sha: string } };
  readonly repository: { readonly full_name: string };
}

export interface Posted {
  readonly comments: number;
  readonly statuses: number;
  /** Largest number of times a call with an idempotency key was applied. */
  readonly mostOften: number;
}

export async function posted(ready: Ready, { body }: Delivery): Promise<Posted> {
  const { pull_request: pr, repository } = JSON.parse(body) as Payload;
  const at = `/repos/${repository.full_name}`;
  const comments = await getJson<unknown[]>(ready, `${at}/issues/${pr.number}/comments`);
  const statuses = await getJson<unknown[]>(ready, `${at}/commits/${pr.head.sha}/statuses`);
  const { applied } = await getJson<{ applied: Record<string, number> }>(ready, '/__calls');
  const mostOften = Math.max(0, ...Object.values(applied));
  return { comments: comments.length, statuses: statuses.length, mostOften };
}

const COMMENT = 'POST /repos/{owner}/{repo}/issues/{issue_number}/comments';

/** Makes the stand-in accept the next comment without a response. */
export async function keepBackTheAnswer(ready: Ready): Promise<void> {
  const rules = [{ call: COMMENT, probability: 1, times: 1, fault: { kind: 'hang-after' } }];
  await control(ready, 'PUT', '/faults/github', { seed: 1, rules });
}

/** Waits until the comment was accepted. */
export async function untilKeptBack(ready: Ready): Promise<void> {
  await waitFor('GitHub to take the comment', async () => {
    const { calls } = await getJson<{ calls: readonly RecordedCall[] }>(ready, '/__calls');
    return calls.some(({ fault }) => fault === 'hang-after') ? true : undefined;
  });
}

async function getJson<T>(ready: Ready, path: string): Promise<T> {
  return (await (await fetch(ready.github + path)).json()) as T;
}
