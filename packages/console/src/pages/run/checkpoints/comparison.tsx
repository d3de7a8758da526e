/** Comparison of two outputs of one step. */
import { useEffect, useRef, useState } from 'react';
import { type DiffLayout, DiffView } from '../../../parts/json-view/diff-view.tsx';
import { Failure, Loading } from '../../../parts/states.tsx';
import { visibleText } from '../../../parts/visible-text.ts';
import { useQueryChange } from '../../../shell/address.ts';
import { useRunData } from '../live/run-data.ts';
import { useOutput, useSourceOutput } from './output.ts';
import { type CheckpointView, type ComparedOutputs, checkpointStepKey } from './words.ts';

interface ComparisonProps {
  readonly compared: ComparedOutputs;
  readonly all: readonly CheckpointView[];
}

export function Comparison({ compared: { before, after }, all }: ComparisonProps) {
  const { id, run } = useRunData();
  const change = useQueryChange();
  const [layout, setLayout] = useState<DiffLayout>('side');
  const place = useRef<HTMLHeadingElement>(null);
  // The control that opens it is further down the page.
  useEffect(() => place.current?.focus(), []);
  const later = all.find(({ seq }) => seq === after);
  const step = later && checkpointStepKey(later);
  const isSource = before === 'source';
  const sourceId = isSource ? run?.source?.runId : undefined;
  const source = useSourceOutput(sourceId, step);
  const earlier = isSource ? (source.data ?? undefined) : { runId: id, seq: before };
  const left = useOutput(earlier);
  const right = useOutput({ runId: id, seq: after });
  const error = source.error ?? left.error ?? right.error;
  const nameOf = (seq: number) => `Revision ${all.find((one) => one.seq === seq)?.revision ?? '?'} (${seq})`;
  return (
    <section className="card stack comparison" aria-label="Comparison">
      <div className="row">
        <h2 ref={place} tabIndex={-1}>
          {step === undefined ? 'Two outputs' : visibleText(step)}
        </h2>
        <span className="dim">
          {isSource ? `run ${sourceId ?? '…'} against checkpoint ${after}` : `${before} against ${after}`}
        </span>
        <span className="row comparison-buttons">
          <button
            type="button"
            aria-pressed={layout === 'side'}
            onClick={() => setLayout(layout === 'side' ? 'unified' : 'side')}
          >
            {layout === 'side' ? 'Show unified' : 'Show side by side'}
          </button>
          <button type="button" onClick={() => change({ compare: undefined })}>
            Close
          </button>
        </span>
      </div>
      {error ? (
        <Failure error={error} />
      ) : isSource && source.data === null ? (
        <p>The source run has no output of this step.</p>
      ) : left.data && right.data ? (
        <DiffView
          before={{ name: isSource ? 'Source' : nameOf(before), value: left.data.value }}
          after={{ name: isSource ? 'This run' : nameOf(after), value: right.data.value }}
          layout={layout}
        />
      ) : (
        <Loading what="both outputs" />
      )}
    </section>
  );
}
