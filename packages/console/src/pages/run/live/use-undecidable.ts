/** The hook that checks whether decisions on a run would be refused because its version is not deployed. */
import { needsDecision } from '@cairn/client';
import { useQuery } from '@tanstack/react-query';
import type { Api } from '../../../api/client.ts';
import type { Run, RunGraph } from './events.ts';
import { graphQuery } from './first-reads.ts';

/** Interval while decisions would be refused, because a deployment is not an event of the run. */
const REREAD_MS = 15_000;

/** @param graph as first read; undefined: not yet */
export function useUndecidable(api: Api, run: Run | undefined, graph: RunGraph | undefined): boolean {
  const isMissing = graph !== undefined && graph.nodes === undefined;
  const isAsked = isMissing && (run?.waits ?? []).some(needsDecision);
  const { data } = useQuery({
    ...graphQuery(api, graph?.runId ?? ''),
    enabled: isAsked,
    refetchInterval: ({ state }) => isAsked && state.data?.nodes === undefined && REREAD_MS,
  });
  return isMissing && data?.nodes === undefined;
}
