/** The choice of a workflow that is deployed, and the schema of its input. */
import { useQuery } from '@tanstack/react-query';
import { workflowSummaries } from '../../api/workflow-summaries.ts';
import { Failure, useLastFailure } from '../../parts/states.tsx';
import { useSession } from '../../session/session.ts';

/** A deployment that changes the schema is rare, and the API checks the input anyway. */
const FRESH_MS = 60_000;

/**
 * @param type the workflow; empty: none is chosen
 * @returns the schema, null if the workflow has none, and what to show if it cannot be read
 */
export function useInputSchema(type: string) {
  const { api } = useSession();
  const query = useQuery({
    queryKey: ['workflows', type, 'input'],
    enabled: type !== '',
    staleTime: FRESH_MS,
    queryFn: async ({ signal }) =>
      (await api.get('/v1/workflows/{type}/input', { params: { type }, signal })).schema ?? null,
  });
  const { data: schema, error, refetch } = useLastFailure(query, type);
  return {
    schema,
    isLoading: query.isLoading,
    failure: error && <Failure error={error} again={() => void refetch()} />,
  };
}

interface WorkflowFieldProps {
  readonly value: string;
  onChange(type: string): void;
}

export function WorkflowField({ value, onChange }: WorkflowFieldProps) {
  const { api } = useSession();
  const { data, error, refetch } = useLastFailure(useQuery(workflowSummaries(api)));
  const types = data?.items.filter(({ newest }) => newest !== null).map(({ type }) => type) ?? [];
  return (
    <>
      <label className="field">
        Workflow
        <select value={value} onChange={(event) => onChange(event.target.value)}>
          <option value="">Choose a workflow</option>
          {types.map((type) => (
            <option key={type} value={type}>
              {type}
            </option>
          ))}
        </select>
      </label>
      {error && !data && <Failure error={error} again={() => void refetch()} />}
    </>
  );
}
