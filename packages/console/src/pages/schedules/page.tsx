/** Schedules: all of the tenant, or one in full. */
import { useState } from 'react';
import { Link } from 'wouter';
import type { Answer } from '../../api/client.ts';
import { CronText } from '../../parts/cron/text.tsx';
import { GuardedButton } from '../../parts/guarded-button.tsx';
import { More } from '../../parts/more.tsx';
import { Empty, Failure, Loading } from '../../parts/states.tsx';
import { type Column, StackTable } from '../../parts/tables/stack-table.tsx';
import { usePages } from '../../parts/use-pages.ts';
import { CutText, Text } from '../../parts/value-text.tsx';
import { When } from '../../parts/when.tsx';
import { useSession } from '../../session/session.ts';
import { ScheduleForm } from './form.tsx';
import { LastOutcome } from './last-outcome.tsx';
import { OneSchedule } from './one.tsx';
import './page.css';
import { Scrolls } from '../../parts/scrolls.tsx';

const PAGE = '50';
/** Schedules fire by the minute. */
const EVERY_MS = 30_000;
type Summary = Answer<'ScheduleSummary'>;

export default function SchedulesPage({ id }: { readonly id?: string }) {
  const [making, setMaking] = useState(false);
  return (
    <div className="stack">
      <div className="row between">
        <h1>Schedules</h1>
        <GuardedButton least="operator" className="primary" onClick={() => setMaking(true)}>
          New schedule
        </GuardedButton>
      </div>
      {making && <ScheduleForm onClose={() => setMaking(false)} />}
      <div className={id === undefined ? '' : 'beside'}>
        <List chosen={id} />
        {id !== undefined && <OneSchedule id={id} key={id} />}
      </div>
    </div>
  );
}

function List({ chosen }: { readonly chosen: string | undefined }) {
  const { api } = useSession();
  const list = usePages({
    queryKey: ['schedules', 'list'],
    read: (cursor, signal) => api.get('/v1/schedules', { query: { limit: PAGE, cursor }, signal }),
    rereadMs: EVERY_MS,
  });
  const failure = list.error && <Failure error={list.error} again={list.again} />;
  if (!list.pages) return failure ?? <Loading what="the schedules" />;
  const { items } = list;
  if (items.length === 0)
    return (
      <Empty title="No schedules yet">
        {failure}
        <p>
          Create one here, or declare it with a workflow using <code>on: {'{ schedule: … }'}</code>.
        </p>
      </Empty>
    );
  return (
    <Scrolls label="Schedules" isCard>
      {failure}
      <StackTable
        rows={items}
        columns={COLUMNS}
        keyOf={({ id }) => id}
        isCurrent={({ id }) => id === chosen}
      />
      <More of={list}>More</More>
    </Scrolls>
  );
}

const COLUMNS: readonly Column<Summary>[] = [
  {
    title: 'Schedule',
    cell: ({ id, name }) => (
      <Link href={`/schedules/${encodeURIComponent(id)}`}>
        <CutText value={name ?? id} max={80} />
      </Link>
    ),
  },
  { title: 'Workflow', cell: ({ type }) => <Text value={type} max={80} /> },
  { title: 'When', cell: ({ cron, timezone }) => <CronText cron={cron} timezone={timezone} /> },
  { title: 'Next', label: true, cell: ({ nextAt }) => (nextAt ? <When at={nextAt} /> : '—') },
  { title: 'Last', label: true, cell: ({ last }) => <LastOutcome last={last} /> },
  {
    title: 'State',
    cell: ({ state }) => state,
    tone: ({ state }) => (state === 'active' ? 'good' : 'warn'),
  },
];
