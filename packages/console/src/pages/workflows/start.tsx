/** Starts a run of a workflow with an input that is typed in. */
import { useState } from 'react';
import { useLocation } from 'wouter';
import { ActionDialog } from '../../parts/action-dialog.tsx';
import { JsonInput } from '../../parts/json-view/json-input.tsx';
import { readJson } from '../../parts/json-view/json-text.ts';
import { startRun } from './acts.ts';

interface StartDialogProps {
  readonly type: string;
  onClose(): void;
}

export function StartDialog({ type, onClose }: StartDialogProps) {
  const [, navigate] = useLocation();
  const [text, setText] = useState('{}');
  const [threadId, setThreadId] = useState('');
  const typed = readJson(text);
  const start = typed.kind === 'value' ? startRun({ type, input: typed.value, threadId }) : undefined;
  return (
    <ActionDialog
      title={`Start ${type}`}
      verb="Start"
      planned={start?.planned}
      cli={start?.cli ?? []}
      onDone={({ runId }) => navigate(`/runs/${runId}`)}
      onClose={onClose}
    >
      <JsonInput
        label="Input"
        text={text}
        onText={setText}
        hint="The workflow says what it takes."
        rows={10}
      />
      <label className="field">
        Thread (left out: one of its own)
        <input value={threadId} onChange={(event) => setThreadId(event.target.value)} />
      </label>
    </ActionDialog>
  );
}
