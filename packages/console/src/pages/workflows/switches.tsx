/** The pause of a workflow and the kill switch. Both concern every tenant. */
import { useState } from 'react';
import { ActionDialog } from '../../parts/dialog/action-dialog.tsx';
import { ReasonDialog } from '../../parts/dialog/reason-dialog.tsx';
import { pauseWorkflow, setKillSwitch, unpauseWorkflow } from './acts.ts';

/** Limit of the API. */
const MAX_REASON = 500;

interface PauseDialogProps {
  readonly type: string;
  readonly isPaused: boolean;
  onClose(): void;
}

export function PauseDialog({ type, isPaused, onClose }: PauseDialogProps) {
  // The dialog keeps its action: the page rereads the state before the dialog has closed, and another person may change it.
  const [wasPaused] = useState(isPaused);
  if (wasPaused)
    return (
      <ActionDialog title={`Unpause ${type}`} verb="Unpause" act={unpauseWorkflow(type)} onClose={onClose}>
        <p>Its runs continue at once.</p>
      </ActionDialog>
    );
  return (
    <ReasonDialog
      title={`Pause ${type}`}
      verb="Pause"
      plan={(reason) => pauseWorkflow(type, reason)}
      most={MAX_REASON}
      onClose={onClose}
    >
      <p>
        No step of the workflow starts until it is unpaused, for any tenant. Running steps finish. Starts,
        answers and events are accepted and wait.
      </p>
    </ReasonDialog>
  );
}

/** Word to type, so that nobody stops an installation by accident. */
const WORD = 'kill switch';

export function KillSwitch({ isOn, onClose }: { readonly isOn: boolean; onClose(): void }) {
  // The dialog keeps its action, as in `PauseDialog`.
  const [wasOn] = useState(isOn);
  const [typed, setTyped] = useState('');
  const isConfirmed = wasOn || typed === WORD;
  const title = `Turn the kill switch ${wasOn ? 'off' : 'on'}`;
  return (
    <ActionDialog
      title={title}
      verb={title}
      danger={!wasOn}
      act={isConfirmed ? setKillSwitch(!wasOn) : undefined}
      lack={`Type “${WORD}”.`}
      onClose={onClose}
    >
      {wasOn ? (
        <p>Runs of every tenant continue. Workflows paused individually stay paused.</p>
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
