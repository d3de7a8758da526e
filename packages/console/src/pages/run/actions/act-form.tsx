/** The form that the address names, with its subject. */
import { stepKey, UNDECIDABLE } from '@cairn/client';
import { useState } from 'react';
import { Dialog } from '../../../parts/dialog/dialog.tsx';
import { isFinal } from '../../../parts/run-status.ts';
import { useMay, useSession } from '../../../session/session.ts';
import { effectFacts, isResolvedByPerson } from '../effects/words.ts';
import { type Run, stepIdOf } from '../live/events.ts';
import { useRunData } from '../live/run-data.ts';
import { SuccessorDialog } from '../successors/successor-dialog.tsx';
import { DecideDialog } from './decide-dialog.tsx';
import { askedBy, NOT_OPEN, stepsBefore } from './decisions.ts';
import { useEffectRow } from './effect-row.ts';
import { NEEDS, requires } from './offers.ts';
import { ResolveDialog } from './resolve-dialog.tsx';
import { SignalDialog } from './signal-dialog.tsx';
import {
  CancelDialog,
  ContinueDialog,
  FailDialog,
  HoldDialog,
  ReleaseDialog,
  SuspendDialog,
} from './small-dialogs.tsx';
import { type Act, useAct } from './use-act.ts';

export function ActForm({ run }: { readonly run: Run }) {
  const { act, close } = useAct();
  const { me } = useSession();
  const needed = act && NEEDS[act];
  // The button of this form is disabled, but its address may come from a person with a higher role.
  const mayAct = useMay(needed ?? 'viewer');
  if (act === undefined || needed === undefined) return null;
  if (mayAct) return <FormOf act={act} run={run} />;
  return (
    <Dialog title="Not allowed" onClose={close}>
      <p>
        {requires(needed)} Yours is {me.role}.
      </p>
      <button type="button" onClick={close}>
        Close
      </button>
    </Dialog>
  );
}

function FormOf({ act, run }: { readonly act: Act; readonly run: Run }) {
  const { about, close } = useAct();
  const form = { runId: run.id, onClose: close };
  const ended = isFinal(run.status) ? `The run has ended: it is ${run.status}.` : undefined;
  switch (act) {
    case 'decide':
      return <Decide run={run} waitId={about.wait ?? ''} key={about.wait} onClose={close} />;
    case 'resolve':
      return <Resolve run={run} effectId={about.effect ?? ''} key={about.effect} onClose={close} />;
    case 'signal':
      return (
        <SignalDialog {...form} waitedFor={run.waits.find(({ id }) => id === about.wait)} key={about.wait} />
      );
    case 'fail': {
      const wait = run.waits.find(({ id }) => id === about.wait);
      return <FailDialog {...form} step={wait && stepKey(wait.execution)} key={about.wait} />;
    }
    case 'cancel':
      return <CancelDialog {...form} outdated={ended} />;
    case 'suspend':
      return <SuspendDialog {...form} outdated={ended} />;
    case 'continue':
      return <ContinueDialog {...form} />;
    case 'hold':
      return <HoldDialog {...form} />;
    case 'release':
      return <ReleaseDialog {...form} />;
    case 'resume':
    case 'replay':
    case 'fork':
      return <SuccessorDialog run={run} mode={act} key={act} onClose={close} />;
  }
}

interface ResolveProps {
  readonly run: Run;
  readonly effectId: string;
  onClose(): void;
}

function Resolve({ run, effectId, onClose }: ResolveProps) {
  const { isOver, head } = useRunData();
  // The waits of a live run say whether the effect asks, so it is not read again.
  const version = isOver ? head : undefined;
  const { data: effect } = useEffectRow(run.id, effectId, { version });
  const isOpen = !effect || isResolvedByPerson(effect, effectFacts(run, isOver));
  return (
    <ResolveDialog
      runId={run.id}
      effectId={effectId}
      caller={isFinal(run.status) ? 'ended' : 'run'}
      version={version}
      outdated={isOpen ? undefined : NOT_OPEN}
      onClose={onClose}
    />
  );
}

interface DecideProps {
  readonly run: Run;
  readonly waitId: string;
  onClose(): void;
}

function Decide({ run, waitId, onClose }: DecideProps) {
  const { graph, isUndecidable } = useRunData();
  const open = run.waits.find(({ id }) => id === waitId);
  // The answered question disappears from the run shortly before the form receives its response.
  const [wait] = useState(open);
  if (!wait) {
    return (
      <Dialog title="This question is not open" onClose={onClose}>
        <p>It was answered or timed out, or the run has ended. See the journal.</p>
        <button type="button" onClick={onClose}>
          Close
        </button>
      </Dialog>
    );
  }
  return (
    <DecideDialog
      runId={run.id}
      step={stepKey(wait.execution)}
      waitId={wait.id}
      asked={askedBy(wait.purpose)}
      detail={wait.detail}
      dataSchema={wait.dataSchema}
      dueAt={wait.dueAt}
      outdated={open ? isUndecidable && UNDECIDABLE : NOT_OPEN}
      before={graph?.nodes && stepsBefore(graph.nodes, stepIdOf(wait.execution.stepId))}
      onClose={onClose}
    />
  );
}
