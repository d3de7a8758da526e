/** The workflows as the list of runs needs them: their names, and what operators stopped. */
import { useQuery } from '@tanstack/react-query';
import { workflowSummaries } from '../../api/workflow-summaries.ts';
import { useLastFailure } from '../../parts/states.tsx';
import { useSession } from '../../session/session.ts';

/** Polling interval. Each poll costs reads of the kill switch and of the workflows. */
const EVERY_MS = 60_000;

/** @param isAsked false until the rows are read, which matter most */
export function useWorkflows(isAsked: boolean) {
  const { api } = useSession();
  return useLastFailure(
    useQuery({
      ...workflowSummaries(api),
      enabled: isAsked,
      refetchInterval: EVERY_MS,
      refetchIntervalInBackground: false,
    }),
  );
}
