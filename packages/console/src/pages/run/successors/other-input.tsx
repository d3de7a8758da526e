/** Another input for a fork, initially that of the run. */
import { JsonInput } from '../../../parts/json-view/json-input.tsx';
import { Failure, Loading } from '../../../parts/states.tsx';
import { escapedJson, sizeWords } from '../../../parts/visible-text.ts';
import { useAnswer } from '../../../session/use-answer.ts';
import type { Run } from '../live/events.ts';

interface OtherInputProps {
  readonly run: Run;
  /** Undefined: the same input. */
  readonly text: string | undefined;
  onText(text: string | undefined): void;
}

/** A larger text makes typing slow. */
const MAX_EDITED_BYTES = 512 * 1024;

export function OtherInput({ run, text, onText }: OtherInputProps) {
  const { inputRef } = run;
  const isHere = inputRef === undefined;
  const isEdited = text !== undefined;
  return (
    <div className="stack-small">
      <label className="check">
        <input
          type="checkbox"
          checked={isEdited}
          onChange={({ target }) =>
            onText(target.checked ? (isHere ? escapedJson(run.input) : '') : undefined)
          }
        />
        Other input
      </label>
      {isEdited && !isHere && text === '' && <LargeInput run={run} onText={onText} />}
      {isEdited && (
        <JsonInput
          label="Input, as JSON"
          text={text}
          onText={onText}
          rows={8}
          hint="Steps whose input changes run again."
        />
      )}
    </div>
  );
}

function LargeInput({ run, onText }: { readonly run: Run; onText(text: string): void }) {
  const { inputRef } = run;
  const { data, error, isFetching, refetch } = useAnswer(
    '/v1/runs/{id}/checkpoints/{seq}/output',
    { params: { id: run.id, seq: String(inputRef?.checkpoint ?? '') } },
    { enabled: false },
  );
  const bytes = inputRef?.bytes ?? 0;
  const load = async () => {
    const { data: input } = data === undefined ? await refetch() : { data };
    if (input !== undefined) onText(escapedJson(input));
  };
  if (bytes > MAX_EDITED_BYTES) {
    return (
      <p className="hint">
        The input of the run has {sizeWords(bytes)}: too large to edit here. Enter another one, or use the
        command line: <code>runs fork … --input @file</code>.
      </p>
    );
  }
  if (isFetching) return <Loading what="the input" />;
  return (
    <div className="row">
      {error && <Failure error={error} />}
      <button type="button" onClick={() => void load()}>
        Start from the input of the run ({sizeWords(bytes)})
      </button>
    </div>
  );
}
