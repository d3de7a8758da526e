/** The workflow of the runs that are listed, chosen among those that are deployed. */
import { InlineFailure } from '../../../parts/states.tsx';
import { useWorkflows } from '../use-workflows.ts';

interface TypeFieldProps {
  readonly value: string | undefined;
  /** The choices are requested after the rows, which matter most. */
  readonly isAsked: boolean;
  onChange(value: string | undefined): void;
}

export function TypeField({ value, isAsked, onChange }: TypeFieldProps) {
  const { data, error, refetch } = useWorkflows(isAsked);
  const known = data?.items.map(({ type }) => type) ?? [];
  const types = [...new Set([...known, ...(value ? [value] : [])])];
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
