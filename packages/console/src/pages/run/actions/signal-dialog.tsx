/** The form that sends a signal to one run, which waits for it or soon will. */
import { useState } from 'react';
import { ActionDialog } from '../../../parts/dialog/action-dialog.tsx';
import { JsonInput } from '../../../parts/json-view/json-input.tsx';
import { readJson } from '../../../parts/json-view/json-text.ts';
import { type Entered, lackOf, NOTHING_ENTERED, readEntered } from '../../../parts/schema-form/entered.ts';
import { SchemaInput } from '../../../parts/schema-form/schema-input.tsx';
import { signalRun } from './acts.ts';
import './actions.css';

interface SignalDialogProps {
  readonly runId: string;
  /** The event that the run waits for, if one was chosen. */
  readonly waitedFor?:
    | {
        readonly name?: string | undefined;
        readonly key?: string | undefined;
        readonly dataSchema?: unknown;
      }
    | undefined;
  onClose(): void;
}

export function SignalDialog({ runId, waitedFor, onClose }: SignalDialogProps) {
  const [name, setName] = useState(waitedFor?.name ?? '');
  const [key, setKey] = useState(waitedFor?.key ?? '');
  const [text, setText] = useState('');
  const [entered, setEntered] = useState<Entered>(NOTHING_ENTERED);
  const schema = waitedFor?.dataSchema;
  const data = schema === undefined ? undefined : readEntered(schema, entered);
  const typed = data ? ({ kind: 'value', value: data.value } as const) : readJson(text);
  const signal = data?.hasValue === false ? undefined : signalRun(runId, { name, key, data: typed });
  return (
    <ActionDialog
      title="Signal the run"
      verb="Send the signal"
      act={signal}
      lack={name.trim() === '' ? 'Give the name of the event.' : data && lackOf(data)}
      onClose={onClose}
    >
      <p className="hint">Only this run receives it. The signal is buffered until the run waits for it.</p>
      <label>
        Name of the event
        <input value={name} onChange={(event) => setName(event.target.value)} required spellCheck={false} />
      </label>
      <label>
        Key: which event of that name (optional)
        <input value={key} onChange={(event) => setKey(event.target.value)} spellCheck={false} />
      </label>
      {schema === undefined ? (
        <JsonInput
          label="Data, as JSON (optional)"
          text={text}
          onText={setText}
          hint={'Payload for the step, for example {"ok": true}.'}
        />
      ) : (
        <SchemaInput
          label="Data"
          schema={schema}
          entered={entered}
          hint="JSON that the step accepts."
          onEntered={setEntered}
        />
      )}
    </ActionDialog>
  );
}
