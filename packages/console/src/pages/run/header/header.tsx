/** The head of a run's page: what it is, where it stands and why, and what can be done; facts below, which can be folded away. */
import { useMemo } from 'react';
import { Link } from 'wouter';
import { Status } from '../../../parts/status.tsx';
import { Text } from '../../../parts/value-text.tsx';
import { When } from '../../../parts/when.tsx';
import { RunActions } from '../actions/actions.tsx';
import type { Run } from '../live/events.ts';
import { useRunData } from '../live/run-data.ts';
import type { Liveness } from '../live/run-follower.ts';
import { CopyText } from './copy-text.tsx';
import { doingOf } from './doing.ts';
import { Facts } from './facts.tsx';
import { FindingView } from './finding-view.tsx';
import { Held } from './held.tsx';
import { ProgressLine } from './progress-line.tsx';
import { Trouble } from './trouble.tsx';
import { Values } from './values.tsx';
import { ViewLink } from './view-link.tsx';
import { WaitView } from './wait-view.tsx';
import { helpFor, unreadText, whyOf } from './why.ts';

/** Thousands of waits would push the page away; the steps show them all. */
const MOST_WAITS = 3;
/** The others are told by their steps. */
const MOST_PROGRESS = 3;

export function RunHeader({ run }: { readonly run: Run }) {
  const { live, graph, steps, histories, events } = useRunData();
  // biome-ignore lint/correctness/useExhaustiveDependencies: the histories are one map that grows with the events
  const doing = useMemo(
    () => doingOf({ nodes: graph?.nodes, steps, histories }, run),
    [graph?.nodes, steps, histories, events, run],
  );
  const why = whyOf(run, doing);
  return (
    <header className="run-head">
      <div className="row run-title">
        <h1>
          <Link href={`/workflows/${encodeURIComponent(run.type)}`} className="run-name">
            <Text value={run.type} max={120} />
          </Link>{' '}
          <span className="dim run-version">v{run.planVersion}</span>
        </h1>
        <CopyText text={run.id} />
        <Live live={live} />
        <Held id={run.id} />
      </div>
      <div className="run-state" aria-live="polite">
        <p className="row">
          <span className="run-status">
            <Status status={run.status} />
          </span>
          {run.waitsFor !== undefined && run.waitsFor !== run.status && <Status status={run.waitsFor} />}
          {run.status === 'cancelled' && run.stopKind === 'halt' && <span className="dim">halted</span>}
          {why && (
            <span>
              <Text value={why.text} max={500} />
              {why.until && (
                <span className="dim">
                  {' '}
                  <When at={why.until} />
                </span>
              )}
            </span>
          )}
        </p>
        {why?.help && !run.error && <p className="dim">{why.help}</p>}
        {run.error && <RunError error={run.error} />}
        {run.finding && <FindingView finding={run.finding} />}
        <Trouble trying={doing.trying} />
        {run.progress?.slice(0, MOST_PROGRESS).map((progress) => (
          <ProgressLine key={progress.step} progress={progress} linked />
        ))}
        {run.waits.slice(0, MOST_WAITS).map((wait) => (
          <WaitView key={wait.id} wait={wait} linked />
        ))}
        {run.completedAt !== undefined && run.inbox.length > 0 && (
          <p className="dim">{unreadText(run.inbox)}</p>
        )}
        {run.waits.length > MOST_WAITS && (
          <p className="dim">and {run.waits.length - MOST_WAITS} more: see the steps that wait</p>
        )}
      </div>
      <RunActions />
      <Facts run={run} />
      <Values run={run} />
    </header>
  );
}

function RunError({ error }: { readonly error: NonNullable<Run['error']> }) {
  return (
    <div className="run-error">
      <p>
        <code>{error.code}</code> <Text value={error.message} max={600} />
        {error.stepId !== undefined && (
          <span className="dim">
            {' '}
            in step{' '}
            <ViewLink to={{ step: error.stepId, tab: undefined }}>
              <Text value={error.stepId} max={120} />
            </ViewLink>
          </span>
        )}
      </p>
      <p className="dim">{helpFor(error.code)}</p>
      {error.trace !== undefined && (
        <details>
          <summary>Trace</summary>
          <pre>
            <Text value={error.trace} />
          </pre>
        </details>
      )}
    </div>
  );
}

const LIVE_WORDS: Readonly<Record<Liveness, readonly [word: string, title: string]>> = {
  live: ['live', 'This page follows the run as it moves'],
  reconnecting: ['reconnecting…', 'What is shown may be old; the connection is being made anew'],
  ended: ['ended', 'The run has ended and will not move any more'],
};

function Live({ live }: { readonly live: Liveness }) {
  const [word, title] = LIVE_WORDS[live];
  return (
    <span className={`live-mark ${live}`} title={title} role="status">
      {word}
    </span>
  );
}
