/** The pause of a workflow and the kill switch. Both concern every tenant. */
import { useState } from 'react';
import { ActionDialog } from '../../parts/action-dialog.tsx';
import { pauseWorkflow, setKillSwitch, unpauseWorkflow } from './acts.ts';

/** As the API bounds it. */
const MOST_REASON = 500;

interface PauseDialogProps {
  readonly type: string;
  readonly isPaused: boolean;
  onClose(): void;
}

export function PauseDialog({ type, isPaused, onClose }: PauseDialogProps) {
  const [reason, setReason] = useState('');
  if (isPaused)
    return (
      <ActionDialog
        title={`Unpause ${type}`}
        verb="Unpause"
        {...unpauseWorkflow(type)}
        onDone={onClose}
        onClose={onClose}
      >
        <p>Its runs continue at once.</p>
      </ActionDialog>
    );
  return (
    <ActionDialog
      title={`Pause ${type}`}
      verb="Pause"
      {...pauseWorkflow(type, reason)}
      onDone={onClose}
      onClose={onClose}
    >
      <p>For every tenant. Starts, answers and events are accepted and wait. Running steps finish.</p>
      <label className="field">
        Reason
        <input value={reason} maxLength={MOST_REASON} onChange={(event) => setReason(event.target.value)} />
      </label>
    </ActionDialog>
  );
}

/** Word to type, so that nobody stops an installation by accident. */
const WORD = 'stop everything';

export function KillSwitch({ isOn, onClose }: { readonly isOn: boolean; onClose(): void }) {
  const [typed, setTyped] = useState('');
  const isMeant = isOn || typed === WORD;
  const { planned, cli } = setKillSwitch(!isOn);
  return (
    <ActionDialog
      title={isOn ? 'Turn the kill switch off' : 'Stop everything'}
      verb={isOn ? 'Turn the kill switch off' : 'Stop everything'}
      danger={!isOn}
      planned={isMeant ? planned : undefined}
      cli={cli}
      onDone={onClose}
      onClose={onClose}
    >
      {isOn ? (
        <p>Runs of every tenant continue. Workflows paused by themselves stay paused.</p>
      ) : (
        <>
          <p>
            No run of any tenant moves until the kill switch is off. Starts, answers and events are accepted
            and wait.
          </p>
          <label className="field">
            Type “{WORD}”
            <input value={typed} onChange={(event) => setTyped(event.target.value)} autoComplete="off" />
          </label>
        </>
      )}
    </ActionDialog>
  );
}
