/** The hold that keeps a run from being deleted. */
import { useAnswer } from '../../../session/use-answer.ts';

/** Holds change rarely, and a change made here is read back at once. */
const FRESH_MS = 60_000;

/** Undefined while it is not known. */
export function useRetention(id: string) {
  return useAnswer('/v1/runs/{id}/retention', { params: { id } }, { staleTime: FRESH_MS }).data;
}
