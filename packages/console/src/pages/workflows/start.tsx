/** Starts a run: with a form made of the input schema of its workflow, or with JSON. */
import { useState } from 'react';
import { useLocation } from 'wouter';
import { ActionDialog } from '../../parts/dialog/action-dialog.tsx';
import { type Entered, lackOf, NOTHING_ENTERED, readEntered } from '../../parts/schema-form/entered.ts';
import { type RefusedEntry, refusedAt } from '../../parts/schema-form/refused.ts';
import { SchemaInput } from '../../parts/schema-form/schema-input.tsx';
import { startRun } from './acts.ts';
import { StopNote } from './stop-note.tsx';
import { useInputSchema, WorkflowField } from './workflow-field.tsx';

interface StartDialogProps {
  /** Undefined: it is chosen in the dialog. */
  readonly type?: string;
  /** The input to begin with. */
  readonly input?: unknown;
  onClose(): void;
}

export function StartDialog({ type: fixed, input, onClose }: StartDialogProps) {
  const [, navigate] = useLocation();
  const [chosen, setChosen] = useState(fixed ?? '');
  const [entered, setEntered] = useState<Entered>(NOTHING_ENTERED);
  const [refused, setRefused] = useState<RefusedEntry>();
  const [threadId, setThreadId] = useState('');
  const { schema, isLoading, failure } = useInputSchema(chosen);
  const read = readEntered(schema, entered, input);
  const { hasValue, value, typed } = read;
  const start = chosen !== '' && hasValue ? startRun({ type: chosen, input: value, threadId }) : undefined;
  return (
    <ActionDialog
      title={fixed === undefined ? 'Start a run' : `Start ${fixed}`}
      verb="Start"
      act={start}
      lack={chosen === '' ? 'Choose a workflow.' : lackOf(read)}
      onDone={({ runId }) => navigate(`/runs/${runId}`)}
      onRefused={(error) => setRefused({ typed, issues: refusedAt(error, 'input', read) })}
      onClose={onClose}
    >
      {fixed === undefined && (
        <WorkflowField
          value={chosen}
          onChange={(next) => {
            setChosen(next);
            setEntered(NOTHING_ENTERED);
            setRefused(undefined);
          }}
        />
      )}
      <StopNote types={chosen === '' ? [] : [chosen]} />
      {failure}
      {/* Without a workflow there is no schema, and its choice would discard what was typed. */}
      {chosen !== '' && (
        <SchemaInput
          label="Input"
          schema={schema}
          entered={entered}
          begin={input}
          hint={isLoading ? 'Reading the schema…' : 'JSON that the workflow accepts.'}
          offersExample={schema !== undefined && schema !== null}
          refused={refused}
          onEntered={setEntered}
        />
      )}
      <label className="field">
        Thread (optional)
        <input value={threadId} onChange={(event) => setThreadId(event.target.value)} />
      </label>
    </ActionDialog>
  );
}
