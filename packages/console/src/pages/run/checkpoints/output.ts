/** Outputs that checkpoints carry or name, read when they are asked for. */
import { useQuery } from '@tanstack/react-query';
import { useSession } from '../../../session/session.ts';
import { graphQuery } from '../live/first-reads.ts';

/** Outputs never change. */
const FOR_EVER = Number.POSITIVE_INFINITY;
/** Outputs may be large, so they are dropped soon after they leave the page. */
const KEPT_MS = 30_000;

export interface OutputPlace {
  readonly runId: string;
  readonly seq: number;
}

/** @param place undefined: not asked for yet */
export function useOutput(place: OutputPlace | undefined) {
  const { api } = useSession();
  return useQuery({
    queryKey: ['run', place?.runId, 'output', place?.seq],
    enabled: place !== undefined,
    staleTime: FOR_EVER,
    gcTime: KEPT_MS,
    queryFn: async ({ signal }) => ({
      // The object distinguishes the output null from no output.
      value: await api.get('/v1/runs/{id}/checkpoints/{seq}/output', {
        params: { id: place?.runId ?? '', seq: String(place?.seq ?? '') },
        signal,
      }),
    }),
  });
}

/** Location of a step's output in the source of a run; null: it has none. */
export function useSourceOutput(runId: string | undefined, step: string | undefined) {
  const { api } = useSession();
  return useQuery({
    ...graphQuery(api, runId ?? ''),
    enabled: runId !== undefined && step !== undefined,
    select: ({ steps }): OutputPlace | null => {
      const found = steps.find(({ key, phase }) => key === step && phase === 'done');
      return found && runId !== undefined ? { runId, seq: found.seq } : null;
    },
  });
}
