/** Starts a run: with a form made of the input schema of its workflow, or with JSON. */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { ActionDialog } from '../../parts/dialog/action-dialog.tsx';
import { type Entered, NOTHING_ENTERED, readEntered } from '../../parts/schema-form/entered.ts';
import { type RefusedEntry, refusedAt } from '../../parts/schema-form/refused.ts';
import { SchemaInput } from '../../parts/schema-form/schema-input.tsx';
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

export function StartDialog({ type: fixed, input, onClose }: StartDialogProps) {
  const { api } = useSession();
  const [, navigate] = useLocation();
  const [chosen, setChosen] = useState(fixed ?? '');
  const [entered, setEntered] = useState<Entered>(NOTHING_ENTERED);
  const [refused, setRefused] = useState<RefusedEntry>();
  const [threadId, setThreadId] = useState('');
  const { data: schema, isLoading } = useQuery({
    queryKey: ['workflows', chosen, 'input'],
    enabled: chosen !== '',
    staleTime: FRESH_MS,
    queryFn: async ({ signal }) =>
      (await api.get('/v1/workflows/{type}/input', { params: { type: chosen }, signal })).schema ?? null,
  });
  const { hasValue, value, fields, typed } = readEntered(schema, entered, input);
  const start = chosen !== '' && hasValue ? startRun({ type: chosen, input: value, threadId }) : undefined;
  return (
    <ActionDialog
      title={fixed === undefined ? 'Start a run' : `Start ${fixed}`}
      verb="Start"
      act={start}
      onDone={({ runId }) => navigate(`/runs/${runId}`)}
      onRefused={(error) => setRefused({ typed, issues: refusedAt(error, 'input', fields) })}
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
      <label className="field">
        Thread (optional)
        <input value={threadId} onChange={(event) => setThreadId(event.target.value)} />
      </label>
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
    queryKey: ['workflows', 'summary'],
    queryFn: ({ signal }) => api.get('/v1/workflows', { query: { summary: true }, signal }),
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
