/** The pause of a workflow and the kill switch. Both concern every tenant. */
import { useState } from 'react';
import { ActionDialog } from '../../parts/dialog/action-dialog.tsx';
import { ReasonDialog } from '../../parts/dialog/reason-dialog.tsx';
import { pauseWorkflow, setKillSwitch, unpauseWorkflow } from './acts.ts';

/** As the API bounds it. */
const MAX_REASON = 500;

interface PauseDialogProps {
  readonly type: string;
  readonly isPaused: boolean;
  onClose(): void;
}

export function PauseDialog({ type, isPaused, onClose }: PauseDialogProps) {
  if (isPaused)
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
  const [typed, setTyped] = useState('');
  const isConfirmed = isOn || typed === WORD;
  const title = `Turn the kill switch ${isOn ? 'off' : 'on'}`;
  return (
    <ActionDialog
      title={title}
      verb={title}
      danger={!isOn}
      act={isConfirmed ? setKillSwitch(!isOn) : undefined}
      lack={`Type “${WORD}”.`}
      onClose={onClose}
    >
      {isOn ? (
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
