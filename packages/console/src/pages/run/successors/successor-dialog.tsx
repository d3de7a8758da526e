/**
 * The form for a successor of the run: choices, preview and button. The button is enabled only while the preview matches the
 * choices.
 */
import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { useLocation } from 'wouter';
import { workflowSummaries } from '../../../api/workflow-summaries.ts';
import { plannedAct } from '../../../parts/act.ts';
import { ActionDialog } from '../../../parts/dialog/action-dialog.tsx';
import { readJson } from '../../../parts/json-view/json-text.ts';
import { isFinal } from '../../../parts/run-status.ts';
import { useMay, useSession } from '../../../session/session.ts';
import { useQueryState } from '../../../shell/address.ts';
import { StopNote } from '../../workflows/stop-note.tsx';
import { RunLink } from '../header/run-link.tsx';
import type { Run } from '../live/events.ts';
import { useRunData } from '../live/run-data.ts';
import { FromChoice } from './from-choice.tsx';
import { OtherInput } from './other-input.tsx';
import { PreviewView } from './preview-view.tsx';
import { fromOf, type Mode, previewBody, requestBody, successorCli, wordOf } from './request.ts';
import { usePreview } from './use-preview.ts';
import { MODES } from './words.ts';
import './successors.css';

interface SuccessorDialogProps {
  readonly run: Run;
  readonly mode: Mode;
  onClose(): void;
}

export function SuccessorDialog({ run, mode, onClose }: SuccessorDialogProps) {
  const [, navigate] = useLocation();
  const { again } = useRunData();
  const [place, setPlace] = useQueryState('from');
  const [planVersion, setPlanVersion] = useState<number>();
  const [isForced, setForced] = useState(false);
  const [carries, setCarries] = useState(false);
  const [text, setText] = useState<string>();
  const input = useMemo(() => (text === undefined ? undefined : readJson(text)), [text]);
  // A run that has not ended continues itself instead of getting a successor.
  const [isItself] = useState(!isFinal(run.status));
  const from = fromOf(place);
  const foreseen = usePreview(run.id, previewBody({ mode, from, input, planVersion, carries }));
  const isPossible = foreseen.kind === 'ready' && foreseen.preview.would !== 'nothing';
  const act =
    isPossible &&
    plannedAct('POST', PATHS[mode], {
      change: { params: { id: run.id }, body: requestBody(foreseen.body, isForced) },
      cli: successorCli(run.id, foreseen.body, isForced),
    });
  const { title, what } = MODES[mode];
  return (
    <ActionDialog
      title={title}
      verb={isItself ? 'Continue the run' : `Start the ${mode}`}
      act={act || undefined}
      outdated={
        mode === 'resume' &&
        run.supersededBy !== undefined && (
          <>
            The run was resumed already: <RunLink id={run.supersededBy} />
          </>
        )
      }
      onDone={(answer) => navigate(`/runs/${answer.runId}`, { replace: true })}
      // Another window may have resumed the run, which the page does not notice because it does not follow an ended run.
      onRefused={again}
      onClose={onClose}
    >
      <div className="successor stack-small">
        <p className="hint">{isItself ? 'It was blocked, and continues where it stopped.' : what}</p>
        {!isItself && (
          <FromChoice
            mode={mode}
            from={from}
            onFrom={(chosen) => setPlace(chosen && wordOf(chosen), 'replace')}
          />
        )}
        {mode === 'fork' && (
          <>
            <PlanVersion run={run} version={planVersion} onVersion={setPlanVersion} />
            <OtherInput run={run} text={text} onText={setText} />
          </>
        )}
        {!isItself && run.inbox.length > 0 && (
          <label className="check">
            <input type="checkbox" checked={carries} onChange={({ target }) => setCarries(target.checked)} />
            <span>
              Carry over unread signals ({run.inbox.length})
              <span className="hint">The new run finds them in its inbox, under the same ids.</span>
            </span>
          </label>
        )}
        {!isItself && <Force isForced={isForced} onForce={setForced} />}
        <StopNote types={[run.type]} />
        <PreviewView foreseen={foreseen} />
      </div>
    </ActionDialog>
  );
}

const PATHS = {
  resume: '/v1/runs/{id}/resume',
  replay: '/v1/runs/{id}/replay',
  fork: '/v1/runs/{id}/fork',
} as const;

function Force({ isForced, onForce }: { readonly isForced: boolean; onForce(force: boolean): void }) {
  const may = useMay('admin');
  return (
    <label className="check">
      <input
        type="checkbox"
        checked={isForced}
        disabled={!may}
        onChange={({ target }) => onForce(target.checked)}
      />
      <span>
        Override the policy of the workflow, once
        <span className="hint">
          {may
            ? 'The policy is not evaluated. The journal records who overrode it.'
            : 'This requires the role admin.'}
        </span>
      </span>
    </label>
  );
}

interface PlanVersionProps {
  readonly run: Run;
  readonly version: number | undefined;
  onVersion(version: number | undefined): void;
}

function PlanVersion({ run, version, onVersion }: PlanVersionProps) {
  const { api } = useSession();
  const { data } = useQuery(workflowSummaries(api));
  const versions = data?.items.find(({ type }) => type === run.type)?.versions ?? [];
  const others = versions.filter(({ deployed, planVersion }) => deployed && planVersion !== run.planVersion);
  return (
    <label className="field">
      Version of the plan
      <select
        value={version ?? ''}
        onChange={({ target }) => onVersion(target.value === '' ? undefined : Number(target.value))}
      >
        <option value="">The same ({run.planVersion})</option>
        {others.map(({ planVersion }) => (
          <option key={planVersion} value={planVersion}>
            {planVersion}
          </option>
        ))}
      </select>
    </label>
  );
}
