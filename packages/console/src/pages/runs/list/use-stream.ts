/**
 * The newest matching runs from `GET /v1/runs/stream`, batched so that a burst of changes is one
 * rendering. Owns the connection and the mark of being live.
 */
import { useEffect, useState } from 'react';
import { targetOf } from '../../../api/client.ts';
import type { ApiError } from '../../../api/problem.ts';
import { followStream } from '../../../api/stream.ts';
import { useSession } from '../../../session/session.ts';
import { askedFilter, isLive, type RunListFilter } from '../filter/filter.ts';
import { type RunSummary, rowOf } from '../row.ts';
import { type Live, type LiveHeadEvent, liveAfter, NOTHING_LIVE } from './live-head.ts';
import { PAGE } from './query-keys.ts';

/** Short enough to seem immediate, long enough to render the frames of a change together. */
const GATHER_MS = 80;

export type StreamState =
  /** `still`: a list that is read once. */
  | { readonly at: 'connecting' | 'live' | 'reconnecting' | 'still' }
  | { readonly at: 'refused'; readonly error: ApiError };

/** @param onLive called with the content of the stream after each change; must be stable */
export function useRunStream(filter: RunListFilter, onLive: (live: Live) => void): StreamState {
  const { api } = useSession();
  const [state, setState] = useState<StreamState>({ at: 'connecting' });
  useEffect(() => {
    if (!isLive(filter)) return setState({ at: 'still' });
    const over = new AbortController();
    let live = NOTHING_LIVE;
    let gathered: LiveHeadEvent[] = [];
    let timer: ReturnType<typeof setTimeout> | undefined;
    const flush = () => {
      timer = undefined;
      live = liveAfter(live, gathered);
      gathered = [];
      onLive(live);
    };
    setState({ at: 'connecting' });
    void followStream(
      api,
      {
        target: (follow) =>
          targetOf('/v1/runs/stream', {
            query: { ...askedFilter(filter), topLevel: undefined, limit: PAGE, ...follow },
          }),
        onState: (at) => {
          setState((before) => (before.at === at ? before : { at }));
          if (at !== 'live') return;
          // After a reconnection the stream sends the whole list again.
          clearTimeout(timer);
          timer = undefined;
          gathered = [];
          live = NOTHING_LIVE;
        },
        onMessage: ({ event, data }) => {
          const one = eventOf(event, data);
          if (!one) return;
          gathered.push(one);
          timer ??= setTimeout(flush, GATHER_MS);
        },
        onRefused: (error) => setState({ at: 'refused', error }),
      },
      over.signal,
    );
    return () => {
      over.abort();
      clearTimeout(timer);
    };
  }, [api, filter, onLive]);
  return state;
}

function eventOf(event: string | undefined, data: string): LiveHeadEvent | undefined {
  if (event === 'run') return { kind: 'run', row: rowOf(JSON.parse(data) as RunSummary) };
  if (event === 'gone') return { kind: 'gone', id: (JSON.parse(data) as { readonly id: string }).id };
  return event === 'ready' ? { kind: 'ready' } : undefined;
}
