/** The forms of one field or none: cancel, suspend, continue, fail a wait, hold, release. */
import { useState } from 'react';
import { ActionDialog } from '../../../parts/action-dialog.tsx';
import { cancelRun, continueRun, failWait, holdRun, releaseRun, suspendRun } from './acts.ts';

interface OfRun {
  readonly runId: string;
  onClose(): void;
}

/** As the API bounds them. */
const MOST_CANCEL_REASON = 1_000;
const MOST_SUSPEND_REASON = 1_000;
const MOST_HOLD_REASON = 500;

export function CancelDialog({ runId, onClose }: OfRun) {
  const [reason, setReason] = useState('');
  return (
    <ActionDialog
      title="Cancel the run"
      verb="Cancel the run"
      danger
      {...cancelRun(runId, reason)}
      onDone={onClose}
      onClose={onClose}
    >
      <p>
        It ends as cancelled, for good. A step that is under way is told to stop; what the run did is undone
        where its steps say how. It can be resumed by a new run later.
      </p>
      <label>
        Reason (may be left out; it stands in the journal)
        <textarea
          rows={2}
          maxLength={MOST_CANCEL_REASON}
          value={reason}
          onChange={(event) => setReason(event.target.value)}
        />
      </label>
    </ActionDialog>
  );
}

export function SuspendDialog({ runId, onClose }: OfRun) {
  const [reason, setReason] = useState('');
  const suspend = suspendRun(runId, reason);
  return (
    <ActionDialog
      title="Suspend the run"
      verb="Suspend it"
      planned={suspend?.planned}
      cli={suspend?.cli ?? []}
      onDone={onClose}
      onClose={onClose}
    >
      <p>No step starts until the run is continued. Running steps finish, and answers are accepted.</p>
      <label>
        Reason, for whoever finds it standing
        <input
          value={reason}
          maxLength={MOST_SUSPEND_REASON}
          onChange={(event) => setReason(event.target.value)}
          required
        />
      </label>
    </ActionDialog>
  );
}

export function ContinueDialog({ runId, onClose }: OfRun) {
  return (
    <ActionDialog
      title="Continue the run"
      verb="Continue it"
      {...continueRun(runId)}
      onDone={onClose}
      onClose={onClose}
    >
      <p>The run continues at once. Overdue waits and retries are handled first.</p>
    </ActionDialog>
  );
}

export function FailDialog({ runId, step, onClose }: OfRun & { readonly step: string | undefined }) {
  const [reason, setReason] = useState('');
  const fail = failWait(runId, step, reason);
  return (
    <ActionDialog
      title={`Fail ${step ?? 'the wait'}`}
      verb="Fail it"
      danger
      planned={fail?.planned}
      cli={fail?.cli ?? []}
      onDone={onClose}
      onClose={onClose}
    >
      <p>The event will not come: the step fails at once, with this reason as its error.</p>
      <label>
        Reason
        <input
          value={reason}
          maxLength={MOST_CANCEL_REASON}
          onChange={(event) => setReason(event.target.value)}
          required
        />
      </label>
    </ActionDialog>
  );
}

export function HoldDialog({ runId, onClose }: OfRun) {
  const [reason, setReason] = useState('');
  const hold = holdRun(runId, reason);
  return (
    <ActionDialog
      title="Hold the run"
      verb="Hold it"
      planned={hold?.planned}
      cli={hold?.cli ?? []}
      onDone={onClose}
      onClose={onClose}
    >
      <p>This run and its lineage are not deleted until the hold is released.</p>
      <label>
        Reason, for example a case number
        <input
          value={reason}
          maxLength={MOST_HOLD_REASON}
          onChange={(event) => setReason(event.target.value)}
          required
        />
      </label>
    </ActionDialog>
  );
}

export function ReleaseDialog({ runId, onClose }: OfRun) {
  return (
    <ActionDialog
      title="Release the hold"
      verb="Release it"
      {...releaseRun(runId)}
      onDone={onClose}
      onClose={onClose}
    >
      <p>The run is deleted when its retention time is over.</p>
    </ActionDialog>
  );
}
