/**
 * Follows the log lines and the streamed text of a run over `GET /v1/runs/{id}/logs/stream`, each line once and in order,
 * across interruptions.
 */

import type { Answer, GetRequest } from 'cairn/api/calls';
import type { CairnClient } from './client.ts';
import { followStream } from './follow-stream.ts';
import { isTextKind, type StreamedLine } from './streamed-text.ts';
import { targetOf } from './target.ts';

export type FollowedLog =
  /** `id`: the position from which a later call continues. */
  | { readonly kind: 'log'; readonly id: string; readonly line: Answer<'LogLine'> }
  | { readonly kind: 'text'; readonly id: string; readonly line: StreamedLine }
  /** The stream was interrupted and is resumed. */
  | { readonly kind: 'again'; readonly why: string }
  | { readonly kind: 'end'; readonly status: string };

export interface FollowingLogs
  extends Pick<NonNullable<GetRequest<'/v1/runs/{id}/logs/stream'>['query']>, 'step' | 'level' | 'kind'> {
  /** `id` of the last known line; default: none. */
  readonly after?: string | undefined;
}

/** @throws Refusal if the API refuses the request, Unreachable after too many consecutive failures */
export async function* followLogs(
  client: CairnClient,
  runId: string,
  { after, ...filter }: FollowingLogs,
): AsyncGenerator<FollowedLog> {
  const target = (follow: { readonly follow?: false }) =>
    targetOf('/v1/runs/{id}/logs/stream', { params: { id: runId }, query: { ...filter, ...follow } });
  for await (const streamed of followStream(client, { target, after })) {
    if (streamed.kind === 'open') continue;
    if (streamed.kind === 'again') {
      yield streamed;
      continue;
    }
    const { event: kind = '', id = '', data } = streamed.frame;
    if (kind === 'end') yield { kind, status: (JSON.parse(data) as { status: string }).status };
    else if (kind === 'log') yield { kind, id, line: JSON.parse(data) as Answer<'LogLine'> };
    else if (isTextKind(kind))
      yield { kind: 'text', id, line: { ...(JSON.parse(data) as StreamedLine), kind } as StreamedLine };
  }
}
