/** An output: formatted, with buttons to copy and download it. Read at once, or when it is asked for. */
import { useState } from 'react';
import { JsonView } from '../../../parts/json-view/json-view.tsx';
import { Failure, Loading } from '../../../parts/states.tsx';
import { type OutputPlace, useOutput } from './output.ts';

interface OutputViewProps {
  readonly place: OutputPlace;
  readonly label: string;
  readonly file?: string;
  /** The name shown while the output is read. */
  readonly what?: string;
  /** Text of the button that asks for it; absent: it is read at once. */
  readonly button?: string | undefined;
}

export function OutputView({ place, label, file, what = 'the output', button }: OutputViewProps) {
  const [isAsked, setAsked] = useState(false);
  const isRead = isAsked || button === undefined;
  const { data, error, refetch } = useOutput(isRead ? place : undefined);
  if (data) return <JsonView value={data.value} label={label} {...(file !== undefined && { file })} />;
  if (error) return <Failure error={error} again={refetch} />;
  if (isRead) return <Loading what={what} />;
  return (
    <button type="button" onClick={() => setAsked(true)}>
      {button}
    </button>
  );
}

interface StepOutputProps extends OutputPlace {
  readonly step: string;
  /** The beginning of the output; it ends with an ellipsis if it is truncated. */
  readonly summary: string | undefined;
}

/** A small output is read at once. */
export function StepOutput({ runId, seq, step, summary }: StepOutputProps) {
  const isSmall = summary !== undefined && !summary.endsWith('…');
  return (
    <section aria-label="Output of the step">
      <h3>Output</h3>
      <OutputView
        place={{ runId, seq }}
        label={`Output of ${step}`}
        file={`${runId}-${step}.json`}
        button={isSmall ? undefined : 'Show the output'}
      />
    </section>
  );
}
