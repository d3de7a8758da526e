/** Schedules: all of the tenant, or one in full. */
import { useState } from 'react';
import { Link } from 'wouter';
import type { Answer } from '../../api/client.ts';
import { CronText } from '../../parts/cron/text.tsx';
import { GuardedButton } from '../../parts/guarded-button.tsx';
import { More } from '../../parts/more.tsx';
import { Empty, Failure, Loading } from '../../parts/states.tsx';
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
      <table className="stacks">
        <thead>
          <tr>
            <th>Schedule</th>
            <th>Workflow</th>
            <th>When</th>
            <th>Next</th>
            <th>Last</th>
            <th>State</th>
          </tr>
        </thead>
        <tbody>
          {items.map((schedule) => (
            <Row key={schedule.id} schedule={schedule} isChosen={schedule.id === chosen} />
          ))}
        </tbody>
      </table>
      <More of={list}>More</More>
    </Scrolls>
  );
}

function Row({ schedule, isChosen }: { readonly schedule: Summary; readonly isChosen: boolean }) {
  const { id, name, type, cron, timezone, nextAt, last, state } = schedule;
  return (
    <tr aria-current={isChosen || undefined}>
      <td>
        <Link href={`/schedules/${encodeURIComponent(id)}`}>
          <CutText value={name ?? id} max={80} />
        </Link>
      </td>
      <td>
        <Text value={type} max={80} />
      </td>
      <td>
        <CronText cron={cron} timezone={timezone} />
      </td>
      <td data-label="Next">{nextAt ? <When at={nextAt} /> : '—'}</td>
      <td data-label="Last">
        <LastOutcome last={last} />
      </td>
      <td className={state === 'active' ? 'good' : 'warn'}>{state}</td>
    </tr>
  );
}
