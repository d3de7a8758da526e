/** One run, read once and then followed. */
import { type QueryClient, useQuery, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useEffect, useMemo, useRef, useSyncExternalStore } from 'react';
import { targetOf } from '../../../api/client.ts';
import { deviceNow } from '../../../api/device-clock.ts';
import { followStream } from '../../../api/stream.ts';
import { isFinal } from '../../../parts/run-status.ts';
import { type Session, useSession } from '../../../session/session.ts';
import type { RunEvent, RunGraph } from './events.ts';
import { graphQuery, runQuery } from './first-reads.ts';
import { rereadMs } from './reread.ts';
import { type RunData, RunDataContext } from './run-data.ts';
import { RunFollower, type RunSource } from './run-follower.ts';
import { undoneOf } from './undone.ts';
import { useUndecidable } from './use-undecidable.ts';
import { withRunning } from './with-running.ts';

/** Least time between two reads of the run itself, however fast it moves. */
const REREAD_MS = 300;
/** The API's own bound of a page. */
const PAGE = '100';

function useRun(id: string): RunData {
  const { api } = useSession();
  const queries = useQueryClient();
  const follower = useMemo(
    () =>
      new RunFollower(
        sourceOf(api, queries, id),
        queries.getQueryData<RunGraph>(graphQuery(api, id).queryKey),
      ),
    [api, queries, id],
  );
  const followed = useSyncExternalStore(follower.subscribe, follower.shown);
  const stop = useRef(() => {});
  useEffect(() => {
    stop.current = follower.start();
    return () => stop.current();
  }, [follower]);

  const {
    data: run,
    error,
    isFetching,
    refetch,
  } = useQuery({
    ...runQuery(api, id),
    refetchInterval: ({ state: { data } }) =>
      data ? rereadMs(data, deviceNow() + api.reach.shown().clockOffsetMs) : false,
  });
  const isBehind = run !== undefined && run.head < followed.head;
  useEffect(() => {
    if (!isBehind || isFetching) return;
    const timer = setTimeout(() => void refetch(), REREAD_MS);
    return () => clearTimeout(timer);
  }, [isBehind, isFetching, refetch]);

  // An event was appended to an ended run, so the stream, which has ended too, is requested again.
  const hasMore =
    followed.live === 'ended' && followed.graph !== undefined && (run?.head ?? 0) > followed.head;
  useEffect(() => {
    if (hasMore) stop.current = follower.start();
  }, [hasMore, follower]);

  // The run could not be read at first, for example because its documents were damaged, and now can.
  const isRead = run !== undefined;
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, when it is read; what fails again then is shown
  useEffect(() => {
    if (isRead && followed.error !== undefined) stop.current = follower.start();
  }, [isRead]);

  const isOver = run !== undefined && isFinal(run.status);
  const isUndecidable = useUndecidable(api, run, followed.graph);
  const running = run?.running;
  const steps = useMemo(() => withRunning(followed.steps, running), [followed.steps, running]);
  const log = run?.compensationLog;
  const undone = useMemo(() => undoneOf(log), [log]);
  return useMemo(
    () => ({
      ...followed,
      steps,
      id,
      run,
      isOver,
      isUndecidable,
      undone,
      error: error ?? followed.error,
      loadUntil: follower.loadUntil,
      again: () => {
        stop.current = follower.start();
        void refetch();
      },
    }),
    [followed, steps, id, run, isOver, isUndecidable, undone, error, follower, refetch],
  );
}

export function RunProvider({ id, children }: { readonly id: string; readonly children: ReactNode }) {
  return <RunDataContext.Provider value={useRun(id)}>{children}</RunDataContext.Provider>;
}

function sourceOf(api: Session['api'], queries: QueryClient, id: string): RunSource {
  const params = { id };
  return {
    readGraph: () => queries.fetchQuery({ ...graphQuery(api, id), retry: false }),
    readEvents: (cursor) => api.get('/v1/runs/{id}/events', { params, query: { limit: PAGE, cursor } }),
    follow: (after, { onEvent, onState, onEnd, onRefused }, signal) =>
      followStream(
        api,
        {
          target: (query) => targetOf('/v1/runs/{id}/stream', { params, query }),
          after: String(after),
          onMessage: ({ event, data }) => (event === 'end' ? onEnd() : onEvent(JSON.parse(data) as RunEvent)),
          onState,
          onRefused,
        },
        signal,
      ),
  };
}
