/** Starts a run of a workflow with an input that is typed in. */
import { useState } from 'react';
import { useLocation } from 'wouter';
import { planned } from '../../api/client.ts';
import { ActionDialog } from '../../parts/action-dialog.tsx';
import { JsonInput } from '../../parts/json-view/json-input.tsx';
import { readJson } from '../../parts/json-view/json-text.ts';

interface StartDialogProps {
  readonly type: string;
  onClose(): void;
}

export function StartDialog({ type, onClose }: StartDialogProps) {
  const [, navigate] = useLocation();
  const [text, setText] = useState('{}');
  const [threadId, setThreadId] = useState('');
  const typed = readJson(text);
  const thread = threadId === '' ? {} : { threadId };
  return (
    <ActionDialog
      title={`Start ${type}`}
      verb="Start"
      planned={
        typed.kind === 'value'
          ? planned('POST', '/v1/runs', { body: { type, input: typed.value, ...thread } })
          : undefined
      }
      cli={['runs', 'start', type, '--input', text, ...(threadId === '' ? [] : ['--thread', threadId])]}
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
