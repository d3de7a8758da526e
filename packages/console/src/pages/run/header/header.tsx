/** The header of a run's page: type, status with its reason, and actions; facts below, which can be folded. */

import { declaredType, explainRun, helpFor, peopleFirst } from '@cairn/client';
import { useMemo } from 'react';
import { Link } from 'wouter';
import { messageOf } from '../../../api/problem.ts';
import { isFinal } from '../../../parts/run-status.ts';
import { Stack } from '../../../parts/stack/stack.tsx';
import { Status } from '../../../parts/status.tsx';
import { CutText, Text } from '../../../parts/value-text.tsx';
import { When } from '../../../parts/when.tsx';
import { RunActions } from '../actions/actions.tsx';
import { useRetention } from '../actions/use-hold.ts';
import type { Run } from '../live/events.ts';
import { useRunData } from '../live/run-data.ts';
import type { Liveness } from '../live/run-follower.ts';
import { CopyText } from './copy-text.tsx';
import { activityOf, doingOf } from './doing.ts';
import { Elapsed } from './elapsed.tsx';
import { Facts } from './facts.tsx';
import { FamilyTree } from './family-tree.tsx';
import { FindingView } from './finding-view.tsx';
import { ProgressLine } from './progress-line.tsx';
import { RunLink } from './run-link.tsx';
import { Trouble } from './trouble.tsx';
import { unreadText } from './unread-text.ts';
import { AllFacts, Values } from './values.tsx';
import { ViewLink } from './view-link.tsx';
import { WaitView } from './wait-view.tsx';

/** Longer than any type, so that the heading shows the whole name. */
const MAX_TYPE = 300;
/** Limit of the waits shown; the steps show the others. */
const MAX_WAITS = 3;
const MAX_PROGRESS = 3;

export function RunHeader({ run }: { readonly run: Run }) {
  const { graph, steps, histories, events, isUndecidable } = useRunData();
  // biome-ignore lint/correctness/useExhaustiveDependencies: the histories are one map that grows with the events
  const doing = useMemo(
    () => doingOf({ nodes: graph?.nodes, steps, histories }, run),
    [graph?.nodes, steps, histories, events, run],
  );
  const why = explainRun(run, { ...activityOf(doing), isUndecidable });
  return (
    <header className="run-head">
      <div className="row run-title">
        <h1>
          <Link href={`/workflows/${encodeURIComponent(declaredType(run.type))}`} className="run-name">
            <CutText value={run.type} max={MAX_TYPE} />
          </Link>{' '}
          <span className="dim run-version">v{run.planVersion}</span>
        </h1>
        <CopyText text={run.id} />
        <Live />
        <LegalHold id={run.id} />
      </div>
      <div className="run-state" aria-live="polite">
        <p className="row">
          <span className="run-status">
            <Status status={run.status} />
          </span>
          {run.waitsFor !== undefined && run.waitsFor !== run.status && <Status status={run.waitsFor} />}
          {run.status === 'cancelled' && run.stopKind === 'halt' && <span className="dim">halted</span>}
          <span>
            <Text value={why.text} max={500} />
            <span className="dim">
              <Elapsed run={run} since={why.since} />
              {why.until !== undefined && (
                <>
                  {' · due '}
                  <When at={why.until} />
                </>
              )}
            </span>
          </span>
        </p>
        {/* The error of an ended run already contains this help. */}
        {why.help && !(run.error && isFinal(run.status)) && <p className="dim">{why.help}</p>}
        {run.error && <RunError error={run.error} run={run} />}
        {run.finding && <FindingView finding={run.finding} />}
        <Trouble trying={doing.trying} />
        {run.progress?.slice(0, MAX_PROGRESS).map((progress) => (
          <ProgressLine key={progress.step} progress={progress} linked />
        ))}
        {peopleFirst(run.waits)
          .slice(0, MAX_WAITS)
          .map((wait) => (
            <WaitView
              key={wait.id}
              wait={wait}
              linked
              isSaid={wait.id === why.waitId && run.waits.length === 1}
            />
          ))}
        {run.completedAt !== undefined && run.inbox.length > 0 && (
          <p className="dim">{unreadText(run.inbox)}</p>
        )}
        {run.waits.length > MAX_WAITS && (
          <p className="dim">and {run.waits.length - MAX_WAITS} more: see the waiting steps</p>
        )}
      </div>
      <RunActions />
      <Values run={run} />
      <Facts run={run} />
      <AllFacts run={run} />
      <FamilyTree run={run} />
    </header>
  );
}

interface RunErrorProps {
  readonly error: NonNullable<Run['error']>;
  readonly run: Pick<Run, 'status' | 'supersededBy'>;
}

function RunError({ error, run: { status, supersededBy } }: RunErrorProps) {
  return (
    <div className="run-error">
      <p>
        <code>{error.code}</code> <Text value={error.message} max={600} />
        {error.stepId !== undefined && (
          <span className="dim">
            {' '}
            in step{' '}
            <ViewLink to={{ step: error.stepId, tab: undefined }}>
              <CutText value={error.stepId} max={120} />
            </ViewLink>
          </span>
        )}
      </p>
      {/* A run that still undoes its steps cannot be resumed yet. */}
      {isFinal(status) && (
        <p className="dim">
          {supersededBy === undefined ? (
            helpFor(error.code)
          ) : (
            <>
              It was resumed: <RunLink id={supersededBy} />
            </>
          )}
        </p>
      )}
      {error.trace !== undefined && <Stack trace={error.trace} message={error.message} />}
    </div>
  );
}

const LIVE_WORDS: Readonly<Record<Liveness, readonly [word: string, title: string]>> = {
  live: ['updates live', 'This page updates as the run moves'],
  reconnecting: ['not updating, reconnecting', 'The page may be out of date until the connection is back'],
  ended: ['ended', 'The run has ended'],
};

function Live() {
  const { live, isOver, error, again } = useRunData();
  // The stream has ended, but the status shown beside it is still `running` until the run is reread.
  const shown = live === 'ended' && !isOver ? 'live' : live;
  const [word, title] = LIVE_WORDS[shown];
  if (live === 'ended' && !isOver && error) {
    const why = messageOf(error);
    return (
      <>
        <span className="live-mark refused" role="status">
          not updating: <Text value={why} max={200} />
        </span>
        <button type="button" className="small" onClick={again}>
          Try again
        </button>
      </>
    );
  }
  return (
    <span className={`live-mark ${shown}`} title={title} role="status">
      {word}
    </span>
  );
}

/** Says that the run is kept from being deleted, by whom and why. */
function LegalHold({ id }: { readonly id: string }) {
  const hold = useRetention(id)?.legalHold;
  if (!hold) return null;
  return (
    <span className="on-hold">
      On legal hold by <Text value={hold.by} max={80} /> <When at={hold.at} />:{' '}
      <Text value={hold.reason} max={120} />
    </span>
  );
}
