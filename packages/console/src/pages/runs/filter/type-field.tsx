/** The workflow of the runs that are listed, chosen among those that are deployed. */
import { useQuery } from '@tanstack/react-query';
import { InlineFailure, useLastFailure } from '../../../parts/states.tsx';
import { useSession } from '../../../session/session.ts';

interface TypeFieldProps {
  readonly value: string | undefined;
  /** The choices are requested after the rows, which matter most. */
  readonly isAsked: boolean;
  onChange(value: string | undefined): void;
}

export function TypeField({ value, isAsked, onChange }: TypeFieldProps) {
  const { api } = useSession();
  const { data, error, refetch } = useLastFailure(
    useQuery({
      queryKey: ['workflows', 'summary'],
      queryFn: ({ signal }) => api.get('/v1/workflows', { query: { summary: true }, signal }),
      select: ({ items }) => items.map(({ type }) => type),
      enabled: isAsked,
    }),
  );
  const types = [...new Set([...(data ?? []), ...(value ? [value] : [])])];
  return (
    <>
      <label className="inline-field">
        <span>Workflow</span>
        <select value={value ?? ''} onChange={(event) => onChange(event.target.value || undefined)}>
          <option value="">all</option>
          {types.sort().map((type) => (
            <option key={type} value={type}>
              {type}
            </option>
          ))}
        </select>
      </label>
      {error && !data && (
        <InlineFailure what="Workflows not read" error={error} again={() => void refetch()} />
      )}
    </>
  );
}
