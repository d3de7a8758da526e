/** Starts a run: with a form made of the input schema of its workflow, or with JSON. */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { ActionDialog } from '../../parts/action-dialog.tsx';
import { JsonInput } from '../../parts/json-view/json-input.tsx';
import { readJson } from '../../parts/json-view/json-text.ts';
import {
  type Field,
  fieldsOf,
  formValue,
  initialOf,
  type Typed,
  typedFrom,
} from '../../parts/schema-form/fields.ts';
import { SchemaForm } from '../../parts/schema-form/schema-form.tsx';
import { escapedJson } from '../../parts/visible-text.ts';
import { useSession } from '../../session/session.ts';
import { startRun } from './acts.ts';

interface StartDialogProps {
  /** Undefined: it is chosen in the dialog. */
  readonly type?: string;
  /** The input to begin with. */
  readonly input?: unknown;
  onClose(): void;
}

/** A deployment that changes the schema is rare, and the API checks the input anyway. */
const FRESH_MS = 60_000;
const NO_FIELDS: readonly Field[] = [];

export function StartDialog({ type: fixed, input, onClose }: StartDialogProps) {
  const { api } = useSession();
  const [, navigate] = useLocation();
  const [chosen, setChosen] = useState(fixed ?? '');
  const [typed, setTyped] = useState<Typed>();
  const [text, setText] = useState<string>();
  const [threadId, setThreadId] = useState('');
  const [wantsJson, setWantsJson] = useState(false);
  const { data: schema, isLoading } = useQuery({
    queryKey: ['workflows', chosen, 'input'],
    enabled: chosen !== '',
    staleTime: FRESH_MS,
    queryFn: async ({ signal }) =>
      (await api.get('/v1/workflows/{type}/input', { params: { type: chosen }, signal })).schema ?? null,
  });
  const fields = fieldsOf(schema) ?? NO_FIELDS;
  const begun = input === undefined ? initialOf(fields) : typedFrom(fields, input);
  const hasForm = fields.length > 0 && begun !== undefined;
  const isForm = hasForm && !wantsJson;

  const form = formValue(fields, typed ?? begun ?? {});
  const jsonText = text ?? escapedJson(input ?? (form.kind === 'value' ? form.value : {}));
  const json = readJson(jsonText);
  const value = isForm ? form : json;
  const start =
    chosen !== '' && value.kind === 'value'
      ? startRun({ type: chosen, input: value.value, threadId })
      : undefined;

  const toJson = () => {
    if (form.kind === 'value') setText(escapedJson(form.value));
    setWantsJson(true);
  };
  const toForm = () => {
    const back = json.kind === 'value' ? typedFrom(fields, json.value) : undefined;
    if (back) setTyped(back);
    setWantsJson(false);
  };
  return (
    <ActionDialog
      title={fixed === undefined ? 'Start a run' : `Start ${fixed}`}
      verb="Start"
      planned={start?.planned}
      cli={start?.cli ?? []}
      onDone={({ runId }) => navigate(`/runs/${runId}`)}
      onClose={onClose}
    >
      {fixed === undefined && (
        <WorkflowField
          value={chosen}
          onChange={(next) => {
            setChosen(next);
            setTyped(undefined);
            setText(undefined);
          }}
        />
      )}
      {hasForm && (
        <fieldset className="segments" aria-label="Give the input as">
          <button type="button" aria-pressed={isForm} onClick={toForm}>
            form
          </button>
          <button type="button" aria-pressed={!isForm} onClick={toJson}>
            JSON
          </button>
        </fieldset>
      )}
      {isForm ? (
        <SchemaForm
          fields={fields}
          typed={typed ?? begun ?? {}}
          issues={form.kind === 'issues' ? form.issues : []}
          onTyped={setTyped}
        />
      ) : (
        <JsonInput
          label="Input"
          text={jsonText}
          onText={setText}
          hint={isLoading ? 'Reading the schema…' : 'JSON that the workflow accepts.'}
          rows={10}
        />
      )}
      <label className="field">
        Thread (optional)
        <input value={threadId} onChange={(event) => setThreadId(event.target.value)} />
      </label>
      {isForm && form.kind === 'issues' && (
        <p className="hint" role="status">
          {form.issues.map(({ name, why }) => `${name} ${why}`).join('; ')}.
        </p>
      )}
    </ActionDialog>
  );
}

interface WorkflowFieldProps {
  readonly value: string;
  onChange(type: string): void;
}

function WorkflowField({ value, onChange }: WorkflowFieldProps) {
  const { api } = useSession();
  const { data } = useQuery({
    queryKey: ['workflows'],
    queryFn: ({ signal }) => api.get('/v1/workflows', { signal }),
  });
  const types = data?.items.filter(({ newest }) => newest !== null).map(({ type }) => type) ?? [];
  return (
    <label className="field">
      Workflow
      <select value={value} onChange={(event) => onChange(event.target.value)}>
        <option value="">Choose a workflow</option>
        {types.map((type) => (
          <option key={type} value={type}>
            {type}
          </option>
        ))}
      </select>
    </label>
  );
}
