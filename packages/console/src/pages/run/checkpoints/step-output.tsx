/** Output of a step: formatted, with buttons to copy and download it. A small one is read at once, a large one when asked for. */
import { useState } from 'react';
import { JsonView } from '../../../parts/json-view/json-view.tsx';
import { Failure, Loading } from '../../../parts/states.tsx';
import { useOutput } from './output.ts';

interface StepOutputProps {
  readonly runId: string;
  readonly seq: number;
  readonly step: string;
  /** The beginning of the output; a cut one ends with an ellipsis. */
  readonly summary: string | undefined;
}

export function StepOutput({ runId, seq, step, summary }: StepOutputProps) {
  const isSmall = summary !== undefined && !summary.endsWith('…');
  const [isAsked, setAsked] = useState(false);
  const { data, error, refetch } = useOutput(isSmall || isAsked ? { runId, seq } : undefined);
  return (
    <section aria-label="Output of the step">
      <h3>Output</h3>
      {data ? (
        <JsonView value={data.value} label={`Output of ${step}`} file={`${runId}-${step}.json`} />
      ) : error ? (
        <Failure error={error} again={refetch} />
      ) : isSmall || isAsked ? (
        <Loading what="the output" />
      ) : (
        <button type="button" onClick={() => setAsked(true)}>
          Show the output
        </button>
      )}
    </section>
  );
}
