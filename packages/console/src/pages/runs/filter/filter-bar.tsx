/** The filter of the list, as chips with live counts and fields. The address keeps it. */
import { Fragment, useEffect, useId, useState } from 'react';
import { Status } from '../../../parts/status.tsx';
import { visibleText } from '../../../parts/visible-text.ts';
import { useQueryChange } from '../../../shell/address.ts';
import { CreatedField, OwnRange, useOwnRange } from './created-field.tsx';
import {
  causeText,
  hasRange,
  isFiltered,
  isHalfTyped,
  isLive,
  NAMES,
  type RunListFilter,
  type RunStatusName,
  STATUSES,
  type TimeRange,
  tagOrMatch,
  toggledStatus,
} from './filter.ts';
import { TypeField } from './type-field.tsx';
import { type Counts, useCounts } from './use-counts.ts';

/** Delay after the last keystroke until a field applies; Enter applies it at once. */
const TYPED_MS = 400;

/** Limit of the characters shown of a cause, because an address can contain anything. */
const MAX_CAUSE_CHARS = 100;

/** First chip of the second line if one line is too short. The break is fixed, because late counts must not move the rows. */
const SECOND_LINE: RunStatusName = 'waiting_external';

interface FilterBarProps {
  readonly filter: RunListFilter;
  /** Counts and choices are requested after the rows, which matter most. */
  readonly isListRead: boolean;
  readonly range: TimeRange;
  /** Beside the fields. */
  readonly children?: React.ReactNode;
}

export function FilterBar({ filter, isListRead, range, children }: FilterBarProps) {
  const change = useQueryChange();
  const helpId = useId();
  const [isOwn, setOwn] = useOwnRange(range);
  // The API counts all runs of a status, whenever they were created.
  const counts = useCounts(
    filter,
    isListRead && !hasRange(range) && filter.cause === undefined && isLive(filter),
  );
  return (
    <div className="filters">
      <fieldset className="chips">
        <legend className="visually-hidden">Status</legend>
        <Chip isOn={filter.status === undefined} onClick={() => change({ [NAMES.status]: undefined })}>
          all <Count of={counts} />
        </Chip>
        {STATUSES.map((status) => (
          <Fragment key={status}>
            {status === SECOND_LINE && <span className="chips-break" />}
            <Chip
              isOn={filter.status?.split(',').includes(status) ?? false}
              onClick={() => change({ [NAMES.status]: toggledStatus(filter.status, status) })}
            >
              <Status status={status} /> <Count of={counts} status={status} />
            </Chip>
          </Fragment>
        ))}
      </fieldset>
      <div className="row fields">
        <TypeField
          value={filter.type}
          isAsked={isListRead}
          onChange={(type) => change({ [NAMES.type]: type })}
        />
        <TextField
          label="Repository"
          placeholder="owner/name"
          value={filter.repoId}
          onChange={(repo) => change({ [NAMES.repoId]: repo }, 'replace')}
        />
        <TextField
          label="Thread"
          placeholder="thread id"
          value={filter.threadId}
          onChange={(thread) => change({ [NAMES.threadId]: thread }, 'replace')}
        />
        <TextField
          label="Tag"
          placeholder="a:1, a>9, id…"
          helpId={helpId}
          isUnfinished={isHalfTyped}
          value={filter.tag ?? filter.match}
          onChange={(text) => change(tagOrMatch(text), 'replace')}
        />
        <CreatedField range={range} isOwn={isOwn} onOwn={setOwn} />
        {filter.cause !== undefined && (
          <button
            type="button"
            className="chip"
            title="Show all causes"
            onClick={() => change({ [NAMES.cause]: undefined })}
          >
            Cause: <bdi>{visibleText(causeText(filter.cause)).slice(0, MAX_CAUSE_CHARS)}</bdi> ✕
          </button>
        )}
        {isFiltered(filter) && (
          <button
            type="button"
            className="plain"
            onClick={() => change(Object.fromEntries(Object.values(NAMES).map((name) => [name, undefined])))}
          >
            Show all
          </button>
        )}
        {children}
      </div>
      {isOwn && <OwnRange range={range} />}
      <p id={helpId} className="card hint tag-help">
        A tag (<code>customer:42</code>), a comparison (<code>amount&gt;100</code>), or a prefix of an id, a
        key, a thread, a tag or its value (<code>order-7</code>, <code>customer:4*</code>).
      </p>
    </div>
  );
}

interface ChipProps {
  readonly isOn: boolean;
  readonly children: React.ReactNode;
  onClick(): void;
}

function Chip({ isOn, children, onClick }: ChipProps) {
  return (
    <button type="button" className="chip" aria-pressed={isOn} onClick={onClick}>
      {children}
    </button>
  );
}

/** The API counts up to this number. A smaller count is exact even if another count was cut. */
const MAX_COUNTED = 10_000;

interface CountProps {
  readonly of: Counts | undefined;
  /** Undefined: all statuses. */
  readonly status?: RunStatusName;
}

function Count({ of, status }: CountProps) {
  if (!of) return null;
  const counted = status === undefined ? Object.values(of.counts) : [of.counts[status]];
  const count = counted.reduce((sum, one) => sum + one, 0);
  if (count === 0) return null;
  return (
    <span className="count">
      {count.toLocaleString('en')}
      {counted.some((one) => one >= MAX_COUNTED) && '+'}
    </span>
  );
}

interface FieldProps {
  readonly value: string | undefined;
  onChange(value: string | undefined): void;
}

interface TextFieldProps extends FieldProps {
  readonly label: string;
  readonly placeholder: string;
  /** Id of the help text. */
  readonly helpId?: string;
  /** True for a text that is applied only by Enter or with more letters. */
  isUnfinished?(text: string): boolean;
}

function TextField({ label, placeholder, helpId, isUnfinished, value, onChange }: TextFieldProps) {
  const [text, setText] = useState(value ?? '');
  const [shown, setShown] = useState(value);
  // The address may change by a link, Back or `Show all`. The text is reset during rendering: before an effect could reset it, the
  // timer of the old text could fire, and undo the change.
  if (shown !== value) {
    setShown(value);
    setText(value ?? '');
  }
  const isTaken = text.trim() === (value ?? '') || isUnfinished?.(text.trim());
  // biome-ignore lint/correctness/useExhaustiveDependencies: only a change of the text restarts the delay
  useEffect(() => {
    if (isTaken) return;
    const timer = setTimeout(() => onChange(text.trim() || undefined), TYPED_MS);
    return () => clearTimeout(timer);
  }, [text, isTaken]);
  return (
    <label className="inline-field">
      <span>{label}</span>
      <input
        value={text}
        placeholder={placeholder}
        aria-describedby={helpId}
        className={helpId && 'described'}
        spellCheck={false}
        autoComplete="off"
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter') onChange(text.trim() || undefined);
        }}
      />
    </label>
  );
}
