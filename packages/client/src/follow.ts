/** Follows the events of a run by `GET /v1/runs/{id}/stream`: each event after a seq once, in order, across reconnects. */

import type { Answer } from 'cairn/api/calls';
import type { CairnClient } from './client.ts';
import { followStream } from './follow-stream.ts';
import { targetOf } from './target.ts';

export type RunEventView = Answer<'RunEvent'>;

export type Followed =
  | { readonly kind: 'event'; readonly event: RunEventView }
  /** The stream was interrupted and is resumed. */
  | { readonly kind: 'again'; readonly why: string }
  | { readonly kind: 'end'; readonly status: string };

export interface Following {
  /** Sequence number of the last known event; default: none. */
  readonly after?: number;
}

/** @throws Refusal if the API refuses the request, Unreachable after too many consecutive failures */
export async function* followRun(
  client: CairnClient,
  runId: string,
  { after = 0 }: Following,
): AsyncGenerator<Followed> {
  let seen = after;
  const target = (query: { readonly follow?: false }) =>
    targetOf('/v1/runs/{id}/stream', { params: { id: runId }, query });
  for await (const streamed of followStream(client, { target, after: String(after) })) {
    if (streamed.kind === 'open') continue;
    if (streamed.kind === 'again') {
      yield streamed;
      continue;
    }
    const { event: name, data } = streamed.frame;
    if (name === 'end') {
      yield { kind: 'end', status: (JSON.parse(data) as { status: string }).status };
      continue;
    }
    const event = JSON.parse(data) as RunEventView;
    if (event.seq <= seen) continue;
    seen = event.seq;
    yield { kind: 'event', event };
  }
}
