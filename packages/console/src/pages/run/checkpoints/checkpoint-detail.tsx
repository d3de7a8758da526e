/** One checkpoint: its output, the actions from it, and the checkpoints to compare it with. */
import { JsonView } from '../../../parts/json-view/json-view.tsx';
import { isFinal } from '../../../parts/run-status.ts';
import { Facts } from '../../../parts/tables/facts.tsx';
import { Text } from '../../../parts/value-text.tsx';
import { sizeWords } from '../../../parts/visible-text.ts';
import { When } from '../../../parts/when.tsx';
import { useMay } from '../../../session/session.ts';
import { useQueryChange } from '../../../shell/address.ts';
import { useOpenAct } from '../actions/use-act.ts';
import { ViewLink } from '../header/view-link.tsx';
import { useRunData } from '../live/run-data.ts';
import { OutputView } from './output-view.tsx';
import {
  boundaryWords,
  type CheckpointView,
  checkpointStepKey,
  comparableTo,
  comparedWord,
  comparisonOf,
  hasOutput,
} from './words.ts';

interface CheckpointDetailProps {
  readonly checkpoint: CheckpointView;
  /** Those of the run that are at hand. */
  readonly all: readonly CheckpointView[];
}

export function CheckpointDetail({ checkpoint, all }: CheckpointDetailProps) {
  const { seq, errorTrace, outputsSummary, outputFrom } = checkpoint;
  const key = checkpointStepKey(checkpoint);
  return (
    <>
      <p className="row">
        <Compare checkpoint={checkpoint} all={all} />
        <SuccessorActions seq={seq} />
      </p>
      {errorTrace !== undefined && (
        <pre className="bad">
          <Text value={errorTrace} />
        </pre>
      )}
      {hasOutput(checkpoint) ? (
        <Output checkpoint={checkpoint} />
      ) : (
        <p className="hint">It carries no output.</p>
      )}
      <Facts
        facts={[
          ['Boundary', boundaryWords(checkpoint)],
          ['At', <When key="at" at={checkpoint.at} exact />],
          ['Summary', outputsSummary],
          ['Reused from', outputFrom && `run ${outputFrom.runId}, checkpoint ${outputFrom.checkpoint}`],
          ['Attempt', checkpoint.attempt],
          ['Plan version', checkpoint.planVersion],
          ['Inputs hash', checkpoint.inputsHash],
          ['Output hash', checkpoint.outputHash],
          ['Previous checkpoint', checkpoint.parent || undefined],
          ['Reusable', checkpoint.resumable === undefined ? undefined : yesNo(checkpoint.resumable)],
          ['Idempotent', checkpoint.idempotent === undefined ? undefined : yesNo(checkpoint.idempotent)],
        ]}
      />
      <p className="row">
        <ViewLink to={{ tab: 'journal', seq: String(seq), of: undefined, event: undefined }}>
          Its event
        </ViewLink>
        {key !== undefined && <ViewLink to={{ tab: 'overview', step: key }}>In the graph</ViewLink>}
        {outputFrom && <a href={`/runs/${encodeURIComponent(outputFrom.runId)}`}>Source run</a>}
      </p>
    </>
  );
}

function yesNo(is: boolean): string {
  return is ? 'yes' : 'no';
}

/** Shows an output of the list at once, and an output stored elsewhere on request. */
function Output({ checkpoint: { seq, output, outputRef } }: Pick<CheckpointDetailProps, 'checkpoint'>) {
  const { id } = useRunData();
  const label = `Output at checkpoint ${seq}`;
  if (output !== undefined) return <JsonView value={output} label={label} />;
  const button = `Show the output${outputRef ? ` (${sizeWords(outputRef.bytes)})` : ''}`;
  return (
    <div>
      <OutputView place={{ runId: id, seq }} label={label} button={button} />
    </div>
  );
}

function Compare({ checkpoint, all }: CheckpointDetailProps) {
  const { run } = useRunData();
  const change = useQueryChange();
  if (!hasOutput(checkpoint)) return null;
  const others = comparableTo(checkpoint, all);
  const hasSource = run?.source !== undefined && checkpointStepKey(checkpoint) !== undefined;
  if (others.length === 0 && !hasSource) return null;
  return (
    <select
      aria-label="Compare with"
      value=""
      onChange={({ target }) => change({ compare: target.value || undefined })}
    >
      <option value="">Compare with…</option>
      {others.map((other) => (
        <option key={other.seq} value={comparedWord(comparisonOf(checkpoint, other))}>
          revision {other.revision ?? 1} ({other.seq})
        </option>
      ))}
      {hasSource && (
        <option value={comparedWord({ before: 'source', after: checkpoint.seq })}>
          the same step of the source run
        </option>
      )}
    </select>
  );
}

function SuccessorActions({ seq }: { readonly seq: number }) {
  const { run } = useRunData();
  const open = useOpenAct();
  const may = useMay('operator');
  if (!run || !isFinal(run.status)) return null;
  const why = may ? undefined : 'This requires the role operator.';
  const from = `checkpoint:${seq}`;
  return (
    <>
      <button type="button" disabled={!may} title={why} onClick={() => open('replay', { from })}>
        Replay from here
      </button>
      <button type="button" disabled={!may} title={why} onClick={() => open('fork', { from })}>
        Fork from here
      </button>
      {why && <span className="hint">{why}</span>}
    </>
  );
}
