/** The forms of one field or none: cancel, suspend, continue, fail a wait, hold, release. */
import { ActionDialog } from '../../../parts/dialog/action-dialog.tsx';
import { ReasonDialog } from '../../../parts/dialog/reason-dialog.tsx';
import { cancelRun, continueRun, failWait, holdRun, releaseRun, suspendRun } from './acts.ts';

interface OfRun {
  readonly runId: string;
  /** The reason why it is not possible any more. */
  readonly outdated?: string | undefined;
  onClose(): void;
}

/** As the API bounds them. */
const MAX_REASON = 1_000;
const MAX_HOLD_REASON = 500;

export function CancelDialog({ runId, outdated, onClose }: OfRun) {
  return (
    <ReasonDialog
      outdated={outdated}
      title="Cancel the run"
      verb="Cancel the run"
      danger
      plan={(reason) => cancelRun(runId, reason)}
      label="Reason (optional; recorded in the journal)"
      most={MAX_REASON}
      onClose={onClose}
    >
      <p>
        It ends as cancelled. Running steps are asked to stop, and completed steps are undone where the
        workflow says how. A new run can resume it later.
      </p>
    </ReasonDialog>
  );
}

export function SuspendDialog({ runId, outdated, onClose }: OfRun) {
  return (
    <ReasonDialog
      outdated={outdated}
      title="Suspend the run"
      verb="Suspend it"
      plan={(reason) => suspendRun(runId, reason)}
      label="Reason (shown on the suspended run)"
      required
      most={MAX_REASON}
      onClose={onClose}
    >
      <p>No step starts until the run is continued. Running steps finish, and answers are accepted.</p>
    </ReasonDialog>
  );
}

export function ContinueDialog({ runId, onClose }: OfRun) {
  return (
    <ActionDialog title="Continue the run" verb="Continue it" act={continueRun(runId)} onClose={onClose}>
      <p>The run continues at once. Overdue waits and retries are handled first.</p>
    </ActionDialog>
  );
}

export function FailDialog({ runId, step, onClose }: OfRun & { readonly step: string | undefined }) {
  return (
    <ReasonDialog
      title={`Fail ${step ?? 'the wait'}`}
      verb="Fail it"
      danger
      plan={(reason) => failWait(runId, step, reason)}
      required
      most={MAX_REASON}
      onClose={onClose}
    >
      <p>The event will not come: the step fails at once, with this reason as its error.</p>
    </ReasonDialog>
  );
}

export function HoldDialog({ runId, onClose }: OfRun) {
  return (
    <ReasonDialog
      title="Place a legal hold"
      verb="Place the hold"
      plan={(reason) => holdRun(runId, reason)}
      label="Reason, for example a case number"
      required
      most={MAX_HOLD_REASON}
      onClose={onClose}
    >
      <p>This run and its lineage are not deleted until the hold is released.</p>
    </ReasonDialog>
  );
}

export function ReleaseDialog({ runId, onClose }: OfRun) {
  return (
    <ActionDialog title="Release the hold" verb="Release it" act={releaseRun(runId)} onClose={onClose}>
      <p>The run is deleted when its retention time is over.</p>
    </ActionDialog>
  );
}
