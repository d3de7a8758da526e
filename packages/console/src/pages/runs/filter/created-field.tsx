/** The time of creation as a filter: a span up to now, or an own start and end, in the time zone of the browser. */
import { useId, useRef, useState } from 'react';
import { deviceNow } from '../../../api/device-clock.ts';
import { isoOf, localOf } from '../../../parts/local-time.ts';
import { useQueryChange } from '../../../shell/address.ts';
import { hasRange, NAMES, SPANS, startOf, type TimeRange } from './filter.ts';

const OWN = 'own';

/** Returns whether the fields of an own range are shown, and a setter. They disappear when the address gets another range. */
export function useOwnRange(range: TimeRange): readonly [boolean, (isChosen: boolean) => void] {
  const shown = keyOf(range);
  const [choosingAt, setChoosingAt] = useState<string>();
  if (choosingAt !== undefined && choosingAt !== shown) setChoosingAt(undefined);
  const isOwn = choosingAt === shown || (range.span === undefined && hasRange(range));
  return [isOwn, (isChosen) => setChoosingAt(isChosen ? shown : undefined)];
}

function keyOf({ span, since, until }: TimeRange): string {
  return `${span} ${since} ${until}`;
}

interface CreatedFieldProps {
  readonly range: TimeRange;
  readonly isOwn: boolean;
  onOwn(isChosen: boolean): void;
}

export function CreatedField({ range, isOwn, onOwn }: CreatedFieldProps) {
  const change = useQueryChange();
  return (
    <label className="inline-field">
      <span>Created</span>
      <select
        value={isOwn ? OWN : (range.span ?? '')}
        onChange={({ target: { value } }) => {
          onOwn(value === OWN);
          if (value !== OWN) change({ [NAMES.since]: value || undefined, [NAMES.until]: undefined });
        }}
      >
        <option value="">any time</option>
        {Object.entries(SPANS).map(([word, { name }]) => (
          <option key={word} value={word}>
            {name}
          </option>
        ))}
        <option value={OWN}>from … to …</option>
      </select>
    </label>
  );
}

export function OwnRange({ range }: { readonly range: TimeRange }) {
  return <RangeForm key={keyOf(range)} range={range} />;
}

/** Applies both fields together, so that an incomplete range is never listed. */
function RangeForm({ range: { span, since, until } }: { readonly range: TimeRange }) {
  const change = useQueryChange();
  const id = useId();
  const end = useRef<HTMLInputElement>(null);
  const [from, setFrom] = useState(() => local(span === undefined ? since : startOf(span, deviceNow())));
  const [to, setTo] = useState(() => local(until));
  const [first, last] = [isoOf(from), isoOf(to)];
  const isRefused = first !== undefined && last !== undefined && first >= last;
  return (
    <form
      className="own-range row"
      aria-label="Time of creation"
      onSubmit={(event) => {
        event.preventDefault();
        if (isRefused) end.current?.focus();
        else change({ [NAMES.since]: first, [NAMES.until]: last });
      }}
    >
      <label className="inline-field">
        <span>From</span>
        <input
          type="datetime-local"
          value={from}
          aria-describedby={`${id}-zone`}
          onChange={({ target }) => setFrom(target.value)}
        />
      </label>
      <label className="inline-field">
        <span>To</span>
        <input
          ref={end}
          type="datetime-local"
          value={to}
          aria-describedby={`${id}-refused ${id}-zone`}
          aria-invalid={isRefused}
          onChange={({ target }) => setTo(target.value)}
        />
      </label>
      <button type="submit">Apply</button>
      <span className="bad" id={`${id}-refused`} role="status">
        {isRefused && 'The end must be after the start.'}
      </span>
      <span className="hint" id={`${id}-zone`}>
        In the time zone of this browser, {Intl.DateTimeFormat().resolvedOptions().timeZone}. An empty field
        sets no limit.
      </span>
    </form>
  );
}

function local(iso: string | undefined): string {
  return iso === undefined ? '' : localOf(Date.parse(iso));
}
