/** One workflow: the plan of each version, the runs that still need it, its triggers; actions to start, pause and unpause. */
import { useState } from 'react';
import { Link } from 'wouter';
import type { Answer } from '../../api/client.ts';
import { cronWords } from '../../parts/cron/words.ts';
import { GuardedButton } from '../../parts/guarded-button.tsx';
import { Scrolls } from '../../parts/scrolls.tsx';
import { Text } from '../../parts/value-text.tsx';
import { When } from '../../parts/when.tsx';
import { useQueryState } from '../../shell/address.ts';
import { Graph } from '../run/graph/graph.tsx';
import type { StepView } from '../run/graph/step-view.ts';
import { StartDialog } from './start.tsx';
import { WorkflowStatistics } from './statistics.tsx';
import { PauseDialog } from './switches.tsx';

type ListedWorkflow = Answer<'WorkflowList'>['items'][number];
type WorkflowVersion = ListedWorkflow['versions'][number];

export function OneWorkflow({ workflow }: { readonly workflow: ListedWorkflow }) {
  const { type, newest, paused, versions } = workflow;
  const [wanted, setWanted] = useQueryState('version');
  const [doing, setDoing] = useState<'start' | 'pause'>();
  const version =
    versions.find(({ planVersion }) => String(planVersion) === wanted) ??
    versions.find(({ planVersion }) => planVersion === newest) ??
    versions[0];
  return (
    <div className="stack">
      <p>
        <Link href="/workflows">Workflows</Link>
      </p>
      <div className="row between">
        <h1>
          <Text value={type} max={200} />
        </h1>
        <div className="row">
          <GuardedButton
            least="submitter"
            className="primary"
            unless={newest === null ? 'it is not deployed' : undefined}
            onClick={() => setDoing('start')}
          >
            Start a run
          </GuardedButton>
          <GuardedButton least="installation" onClick={() => setDoing('pause')}>
            {paused ? 'Unpause' : 'Pause'}
          </GuardedButton>
          <Link href={`/runs?type=${encodeURIComponent(type)}`} className="button">
            Its runs
          </Link>
        </div>
      </div>
      {paused && (
        <p className="warn" role="status">
          ‖ Paused <When at={paused.since} />
          {paused.reason && (
            <>
              : <Text value={paused.reason} />
            </>
          )}
          . No run of it moves and nothing is lost.
        </p>
      )}
      <Scrolls label="Versions" isCard>
        <h2>Versions</h2>
        <table>
          <thead>
            <tr>
              <th>Version</th>
              <th>Deployed</th>
              <th>Live runs</th>
            </tr>
          </thead>
          <tbody>
            {versions.map(({ planVersion, deployed, liveRuns, changed }) => (
              <tr key={planVersion} aria-current={planVersion === version?.planVersion || undefined}>
                <td>
                  <button type="button" className="link" onClick={() => setWanted(String(planVersion))}>
                    v{planVersion}
                    {planVersion === newest ? ' (newest)' : ''}
                  </button>
                </td>
                <td className={deployed && !changed ? '' : 'bad'}>
                  {changed ? (
                    <Changed what={changed} />
                  ) : deployed ? (
                    'yes'
                  ) : liveRuns > 0 ? (
                    'no: its runs are blocked until it is'
                  ) : (
                    'no'
                  )}
                </td>
                <td>{liveRuns}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scrolls>
      {version && <Plan version={version} />}
      {/* The statistics are last, because they grow when they arrive. */}
      <WorkflowStatistics type={type} />
      {doing === 'start' && <StartDialog type={type} onClose={() => setDoing(undefined)} />}
      {doing === 'pause' && (
        <PauseDialog type={type} isPaused={paused !== null} onClose={() => setDoing(undefined)} />
      )}
    </div>
  );
}

/** The definition changed within its version: no run starts on it, and earlier runs wait for the earlier definition. */
function Changed({ what: [first] }: { readonly what: readonly string[] }) {
  return (
    <>
      changed
      {first !== undefined && (
        <>
          : <Text value={first} max={300} />
        </>
      )}
      . Its runs are blocked until the definition is restored
    </>
  );
}

function Plan({ version: { planVersion, steps, on } }: { readonly version: WorkflowVersion }) {
  const [selected, setSelected] = useQueryState('step');
  if (!steps) return <p className="dim">v{planVersion} is not deployed, so its steps are not known.</p>;
  const views = new Map(steps.map((step) => [step.id, planView(step)]));
  const node = steps.find(({ id }) => id === selected);
  return (
    <section className="card">
      <h2>Plan of v{planVersion}</h2>
      <Graph
        key={planVersion}
        plan={steps}
        view={(id) => views.get(id)}
        selected={selected}
        current={undefined}
        onSelect={(id) => setSelected(id, 'replace')}
      />
      {node && (
        <p>
          <strong>
            <Text value={node.id} max={200} />
          </strong>{' '}
          ({node.kind}) needs{' '}
          {node.needs.length === 0 ? 'nothing' : <Text value={node.needs.join(', ')} max={1_000} />}
        </p>
      )}
      {on && <Starters on={on} />}
    </section>
  );
}

type WorkflowStep = NonNullable<WorkflowVersion['steps']>[number];

/** A step of a plan without a run: shows its kind instead of its state. */
function planView({ id, kind, needs }: WorkflowStep): StepView {
  const nothing = {
    seq: undefined,
    durationMs: undefined,
    runningSince: undefined,
    items: undefined,
    share: undefined,
  };
  return { id, kind: 'step', needs, status: kind, revision: 1, attempts: 0, ...nothing };
}

function Starters({ on }: { readonly on: NonNullable<WorkflowVersion['on']> }) {
  const words = [
    ...on.github.map(({ event, actions }) => `GitHub ${event}${actions ? `: ${actions.join(', ')}` : ''}`),
    ...on.slack.map(({ command }) => `Slack ${command}`),
    ...on.pubsub.map(({ topic, delivers }) => `Pub/Sub ${topic}${delivers ? ' (events)' : ''}`),
    ...on.schedule.map(({ id, cron, timezone }) => `Schedule ${id}: ${cronWords(cron) ?? cron} ${timezone}`),
  ];
  return (
    <>
      <h3>Started by</h3>
      <ul>
        {[...words, 'the API and this console'].map((one) => (
          <li key={one}>
            <Text value={one} max={300} />
          </li>
        ))}
      </ul>
    </>
  );
}
