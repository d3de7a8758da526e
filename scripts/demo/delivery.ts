/** A recorded GitHub delivery, signed as GitHub signs it. */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { sign } from '@octokit/webhooks-methods';
import type { Ready } from '../../packages/local/src/cloud-process.ts';
import { untilTaken } from './refusals.ts';

export interface Delivery {
  readonly event: string;
  readonly id: string;
  readonly body: string;
}

interface Example {
  readonly name: string;
  readonly examples: readonly { readonly action?: string }[];
}

/** Recorded GitHub payloads, each as a new delivery, with its action if any. */
export function recordedDeliveries(): (Delivery & { readonly action?: string })[] {
  const file = createRequire(import.meta.url).resolve('@octokit/webhooks-examples/api.github.com/index.json');
  const recorded = JSON.parse(readFileSync(file, 'utf8')) as Example[];
  return recorded.flatMap(({ name, examples }) =>
    examples.map((payload) => ({
      event: name,
      id: randomUUID(),
      body: JSON.stringify(payload),
      ...(payload.action === undefined ? {} : { action: payload.action }),
    })),
  );
}

/** The recorded delivery of an opened pull request. */
export function openedPullRequest(): Delivery {
  const opened = recordedDeliveries().find(
    ({ event, action }) => event === 'pull_request' && action === 'opened',
  );
  if (!opened) throw new Error('there is no recorded opened pull request');
  return opened;
}

/** The same with a title that requires an approval: a breaking change about sessions. */
export function riskyPullRequest(): Delivery {
  const delivery = openedPullRequest();
  const payload = JSON.parse(delivery.body) as { readonly pull_request: object };
  const pullRequest = { ...payload.pull_request, title: 'feat!: keep sessions in the database' };
  return { ...delivery, body: JSON.stringify({ ...payload, pull_request: pullRequest }) };
}

/** Response of the webhook; `runId` if there is a run. */
export interface Answer {
  readonly status: number;
  readonly runId?: string;
  readonly duplicate?: boolean;
  /** True if another request with the same delivery is in progress. */
  readonly inFlight?: boolean;
  readonly ignored?: boolean;
  readonly pong?: boolean;
}

export async function deliver(ready: Ready, { event, id, body }: Delivery): Promise<Answer> {
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
  return { status: response.status, ...((await response.json()) as Omit<Answer, 'status'>) };
}

/** Delivers again after a 503 of a busy cloud, as GitHub's users do. */
export function deliverUntilTaken(ready: Ready, delivery: Delivery): Promise<Answer> {
  return untilTaken(ready, 'a delivery to be taken', () => deliver(ready, delivery));
}
