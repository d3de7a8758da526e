/** The forms of one field or none: cancel, hold, release. */
import { useState } from 'react';
import { ActionDialog } from '../../../parts/action-dialog.tsx';
import { cancelRun, holdRun, releaseRun } from './acts.ts';

interface OfRun {
  readonly runId: string;
  onClose(): void;
}

/** As the API bounds them. */
const MOST_CANCEL_REASON = 1_000;
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
      <p>Neither this run nor any other of its lineage is deleted until the hold is released.</p>
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
      <p>The run may be deleted once it has been kept long enough.</p>
    </ActionDialog>
  );
}
