/** Input, result and all facts of the run: one line each until opened, so that the steps below stay in view. */
import { useMemo, useState } from 'react';
import { JsonView } from '../../../parts/json-view/json-view.tsx';
import { headOf, sizeWords, visibleText } from '../../../parts/visible-text.ts';
import { OutputView } from '../checkpoints/output-view.tsx';
import type { Run } from '../live/events.ts';

/** Characters shown of a closed value. */
const LINE_CHARS = 160;

export function Values({ run }: { readonly run: Run }) {
  return (
    <div className="run-values">
      <Value name="Input" runId={run.id} value={run.input} place={run.inputRef} />
      <Value name="Result" runId={run.id} value={run.result} place={run.resultRef} />
    </div>
  );
}

/** Every member of the API's answer, including those shown nowhere else. */
export function AllFacts({ run }: { readonly run: Run }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details
      aria-label="All facts"
      className="all-facts"
      onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
    >
      <summary>
        <b>All facts</b> <span className="dim">the run as the API returns it</span>
      </summary>
      {isOpen && <JsonView value={run} label="All facts" file={fileOf(run.id, 'run')} />}
    </details>
  );
}

interface ValueProps {
  readonly name: string;
  readonly runId: string;
  /** Undefined: there is none, or it is stored elsewhere. */
  readonly value: unknown;
  readonly place: Run['inputRef'];
}

function Value({ name, runId, value, place }: ValueProps) {
  const [isOpen, setOpen] = useState(false);
  const line = useMemo(() => lineOf(value, place), [value, place]);
  if (value === undefined && !place) return null;
  return (
    <details aria-label={name} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        <b>{name}</b> <bdi className="mono dim">{line}</bdi>
      </summary>
      {isOpen && value !== undefined && <JsonView value={value} label={name} file={fileOf(runId, name)} />}
      {isOpen && value === undefined && place && (
        <OutputView
          place={{ runId, seq: place.checkpoint }}
          label={name}
          file={fileOf(runId, name)}
          what={name.toLowerCase()}
        />
      )}
    </details>
  );
}

function fileOf(runId: string, name: string): string {
  return `${runId}-${name.toLowerCase()}.json`;
}

function lineOf(value: unknown, place: Run['inputRef']): string {
  if (value === undefined) return place ? `${sizeWords(place.bytes)}: open to read it` : '';
  const text = JSON.stringify(value);
  return text.length > LINE_CHARS ? `${visibleText(headOf(text, LINE_CHARS))}…` : visibleText(text);
}
