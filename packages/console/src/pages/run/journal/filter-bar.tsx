/** The filter of the journal, by type and step. */
import { useId } from 'react';
import { visibleText } from '../../../parts/visible-text.ts';
import type { facetsOf } from './rows.ts';

interface JournalFilterBarProps {
  readonly facets: ReturnType<typeof facetsOf>;
  readonly type: string | undefined;
  readonly step: string | undefined;
  onChange(filter: { readonly event?: string | undefined; readonly of?: string | undefined }): void;
}

export function FilterBar({ facets, type, step, onChange }: JournalFilterBarProps) {
  const isFiltered = type !== undefined || step !== undefined;
  return (
    <div className="row">
      <Facet
        label="Type"
        all="All types"
        value={type}
        options={facets.types.map(counted)}
        onChange={(event) => onChange({ event })}
      />
      <Facet
        label="Step"
        all="All steps"
        value={step}
        options={facets.steps.map(counted)}
        onChange={(of) => onChange({ of })}
      />
      {isFiltered && (
        <button type="button" className="plain" onClick={() => onChange({ event: undefined, of: undefined })}>
          Show all
        </button>
      )}
    </div>
  );
}

interface FacetProps {
  readonly label: string;
  readonly all: string;
  readonly value: string | undefined;
  readonly options: readonly (readonly [value: string, text: string])[];
  onChange(value: string | undefined): void;
}

function counted([value, count]: readonly [string, number]) {
  return [value, `${value} (${count})`] as const;
}

export function Facet({ label, all, value, options, onChange }: FacetProps) {
  const id = useId();
  const isListed = value === undefined || options.some(([option]) => option === value);
  return (
    <span className="facet">
      <label htmlFor={id}>{label}</label>
      <select id={id} value={value ?? ''} onChange={({ target }) => onChange(target.value || undefined)}>
        <option value="">{all}</option>
        {!isListed && <option value={value}>{visibleText(value)}</option>}
        {options.map(([option, text]) => (
          <option key={option} value={option}>
            {visibleText(text)}
          </option>
        ))}
      </select>
    </span>
  );
}
