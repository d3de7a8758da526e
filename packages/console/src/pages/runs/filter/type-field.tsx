/** The workflow of the runs that are listed, chosen among those that are deployed. */
import { messageOf } from '../../../api/problem.ts';
import { visibleText } from '../../../parts/visible-text.ts';
import { useWorkflows } from '../use-workflows.ts';

interface TypeFieldProps {
  readonly value: string | undefined;
  /** The choices are requested after the rows, which matter most. */
  readonly isAsked: boolean;
  onChange(value: string | undefined): void;
}

/** The field has a fixed width, because late choices or their failure must not move the rows. */
export function TypeField({ value, isAsked, onChange }: TypeFieldProps) {
  const { data, error, refetch } = useWorkflows(isAsked);
  const known = data?.items.map(({ type }) => type) ?? [];
  const types = [...new Set([...known, ...(value ? [value] : [])])];
  const isUnread = Boolean(error) && !data;
  return (
    <div className="type-field">
      {isUnread && !value ? (
        <span className="inline-field">
          <span>Workflow</span>
        </span>
      ) : (
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
      )}
      {isUnread && <Unread isShort={Boolean(value)} error={error} again={() => void refetch()} />}
    </div>
  );
}

interface UnreadProps {
  /** Shortens the message to leave room for the choice. */
  readonly isShort: boolean;
  readonly error: unknown;
  again(): void;
}

function Unread({ isShort, error, again }: UnreadProps) {
  const why = visibleText(messageOf(error));
  return (
    <span className="unread" role="alert" title={`Workflows not read: ${why}`}>
      <span className="bad">
        <span aria-hidden="true">✕{!isShort && ' not read'}</span>
        <span className="visually-hidden">Workflows not read: {why}</span>
      </span>
      <button type="button" className="small" onClick={again}>
        Try again
      </button>
    </span>
  );
}
