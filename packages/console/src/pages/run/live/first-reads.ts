/** The requests whose answers the page of a run needs first. They can be sent before its scripts are loaded. */
import type { QueryClient } from '@tanstack/react-query';
import type { Api } from '../../../api/client.ts';
import { hasFamily, threadQuery } from '../header/thread.ts';
import type { Run, RunGraph } from './events.ts';

const KEPT_MS = 10_000;

interface Cancellable {
  readonly signal: AbortSignal;
}

export function runQuery(api: Api, id: string) {
  return {
    queryKey: ['run', id],
    queryFn: ({ signal }: Cancellable) => api.get('/v1/runs/{id}', { params: { id }, signal }),
  };
}

/** The graph of a run. The answer is large and outdated by the next event, so it is kept only until the page takes it. */
export function graphQuery(api: Api, id: string) {
  return {
    queryKey: ['run', id, 'graph'],
    queryFn: ({ signal }: Cancellable) => api.get('/v1/runs/{id}/graph', { params: { id }, signal }),
    gcTime: KEPT_MS,
  };
}

/** Never rejects. */
export async function readRunAhead(api: Api, queries: QueryClient, id: string): Promise<void> {
  const ofRun = runQuery(api, id);
  const ofGraph = graphQuery(api, id);
  await Promise.all([queries.prefetchQuery(ofRun), queries.prefetchQuery({ ...ofGraph, retry: false })]);
  const run = queries.getQueryData<Run>(ofRun.queryKey);
  const graph = queries.getQueryData<RunGraph>(ofGraph.queryKey);
  if (run && hasFamily(run, graph?.nodes)) await queries.prefetchQuery(threadQuery(api, run));
}
