/** Workflows: all with their versions, or one in full. */
import { useState } from 'react';
import { Link } from 'wouter';
import type { Answer } from '../../api/client.ts';
import { GuardedButton } from '../../parts/guarded-button.tsx';
import { Scrolls } from '../../parts/scrolls.tsx';
import { Empty, Failure, Loading } from '../../parts/states.tsx';
import { type Column, StackTable } from '../../parts/tables/stack-table.tsx';
import { CutText, Text } from '../../parts/value-text.tsx';
import { When } from '../../parts/when.tsx';
import { useAnswer } from '../../session/use-answer.ts';
import { OneWorkflow } from './one.tsx';
import { KillSwitch } from './switches.tsx';

type List = Answer<'WorkflowList'>;

/** Polling interval: each poll counts live runs in the store, but a switch turned by others must be visible soon. */
const EVERY_MS = 30_000;

export default function WorkflowsPage({ type }: { readonly type?: string }) {
  const { data, error, refetch } = useAnswer('/v1/workflows', {}, { refetchInterval: EVERY_MS });
  if (error && !data) return <Failure isPage error={error} again={() => void refetch()} />;
  if (!data) return <Loading what="the workflows" />;
  const one = data.items.find((item) => item.type === type);
  if (type !== undefined && one) return <OneWorkflow workflow={one} key={type} />;
  return (
    <div className="stack">
      <Head killSwitch={data.killSwitch} />
      {type !== undefined && (
        <Empty title="No such workflow">
          <p>
            ‘<Text value={type} max={200} />’ is not deployed and has no runs.
          </p>
        </Empty>
      )}
      <Scrolls label="Workflows" isCard>
        <StackTable rows={data.items} columns={COLUMNS} keyOf={({ type }) => type} />
      </Scrolls>
      {data.countedVersions !== undefined && (
        <p className="hint">Runs of {data.countedVersions} versions were counted; there are more.</p>
      )}
    </div>
  );
}

function Head({ killSwitch }: Pick<List, 'killSwitch'>) {
  const [setting, setSetting] = useState(false);
  return (
    <>
      <div className="row between">
        <h1>Workflows</h1>
        <GuardedButton
          least="installation"
          className={killSwitch ? 'primary' : 'quiet-danger'}
          onClick={() => setSetting(true)}
        >
          Turn the kill switch {killSwitch ? 'off' : 'on'}
        </GuardedButton>
      </div>
      {killSwitch && (
        <p className="failure" role="status">
          <strong>The kill switch is on.</strong> No run of any tenant continues. Starts, answers and events
          are accepted and wait.
        </p>
      )}
      {setting && <KillSwitch isOn={killSwitch} onClose={() => setSetting(false)} />}
    </>
  );
}

const COLUMNS: readonly Column<List['items'][number]>[] = [
  {
    title: 'Workflow',
    cell: ({ type }) => (
      <Link href={`/workflows/${encodeURIComponent(type)}`}>
        <CutText value={type} max={100} />
      </Link>
    ),
  },
  {
    title: 'Newest',
    label: true,
    cell: ({ newest }) => (newest === null ? <span className="bad">not deployed</span> : `v${newest}`),
  },
  {
    title: 'Steps',
    label: true,
    cell: ({ newest, versions }) =>
      versions.find(({ planVersion }) => planVersion === newest)?.steps?.length.toLocaleString('en') ?? '—',
  },
  {
    title: 'Live runs',
    label: true,
    cell: ({ versions }) => versions.reduce((sum, { liveRuns }) => sum + liveRuns, 0).toLocaleString('en'),
  },
  {
    title: 'Older versions with runs',
    label: 'Older',
    cell: ({ newest, versions }) =>
      versions
        .filter(({ planVersion, liveRuns }) => planVersion !== newest && liveRuns > 0)
        .map(({ planVersion, liveRuns, deployed }) => (
          <span key={planVersion} className={deployed ? '' : 'bad'}>
            v{planVersion}: {liveRuns}
            {deployed ? '' : ', not deployed'}{' '}
          </span>
        )),
  },
  {
    title: 'State',
    cell: ({ paused }) =>
      paused ? (
        <span className="warn">
          ‖ paused <When at={paused.since} />
        </span>
      ) : (
        <span className="good">✓ active</span>
      ),
  },
];
