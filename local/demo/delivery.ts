/** A recorded GitHub delivery, signed as GitHub signs it. */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { sign } from '@octokit/webhooks-methods';
import type { Ready } from '../cloud-process.ts';

export interface Delivery {
  readonly event: string;
  readonly id: string;
  readonly body: string;
}

interface Example {
  readonly name: string;
  readonly examples: readonly { readonly action?: string }[];
}

/** The recorded `pull_request` payload of an opened pull request, as a new delivery. */
export function openedPullRequest(): Delivery {
  const file = createRequire(import.meta.url).resolve('@octokit/webhooks-examples/api.github.com/index.json');
  const recorded = JSON.parse(readFileSync(file, 'utf8')) as Example[];
  const payload = recorded
    .find(({ name }) => name === 'pull_request')
    ?.examples.find(({ action }) => action === 'opened');
  if (!payload) throw new Error('there is no recorded opened pull request');
  return { event: 'pull_request', id: randomUUID(), body: JSON.stringify(payload) };
}

export async function deliver(
  ready: Ready,
  { event, id, body }: Delivery,
): Promise<{ status: number; runId: string }> {
  const response = await fetch(`${ready.gateway}/webhooks/github`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-github-event': event,
      'x-github-delivery': id,
      'x-hub-signature-256': await sign(ready.secrets.github, body),
    },
    body,
  });
  const { runId } = (await response.json()) as { runId: string };
  return { status: response.status, runId };
}
