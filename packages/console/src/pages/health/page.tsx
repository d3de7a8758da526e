/** Health of the installation: figures, then findings. Other roles than admin see only whether it answers. */
import { isWrong, judgeHealth } from '@cairn/client';
import { useQuery } from '@tanstack/react-query';
import type { Answer } from '../../api/client.ts';
import { deviceNow } from '../../api/device-clock.ts';
import { type NamedReading, Readings } from '../../parts/readings/readings.tsx';
import { type Column, StackTable } from '../../parts/tables/stack-table.tsx';
import { duration } from '../../parts/time.ts';
import { Text } from '../../parts/value-text.tsx';
import { When } from '../../parts/when.tsx';
import { useMay, useSession } from '../../session/session.ts';
import { useAnswer } from '../../session/use-answer.ts';
import { Budget } from './budget.tsx';
import { Erasures } from './erasures.tsx';
import { Findings } from './findings.tsx';
import { Live } from './live.tsx';
import { Restore } from './restore.tsx';
import { Today } from './today.tsx';
import { usePart } from './use-part.tsx';
import './page.css';
import { Scrolls } from '../../parts/scrolls.tsx';

/** The API refreshes at most this often; the numbers change by the minute. */
const EVERY_MS = 10_000;

export default function HealthPage() {
  const mayLook = useMay('installation');
  const maySeeErasures = useMay('admin');
  return (
    <div className="stack health">
      <h1>Health</h1>
      {mayLook && <Restore />}
      {mayLook ? <Diagnosis /> : <Answers />}
      <Live />
      <Budget />
      <Today isLast={!maySeeErasures} />
      {maySeeErasures && <Erasures />}
    </div>
  );
}

/** For every role. */
function Answers() {
  const { api, me } = useSession();
  const query = useQuery({
    queryKey: ['health', 'answers'],
    queryFn: ({ signal }) => api.health({ signal }),
    refetchInterval: EVERY_MS,
  });
  const part = usePart(query, { what: 'the state' });
  if (!part.data) return part.instead;
  if (part.failure) return part.failure;
  return (
    <>
      <Findings findings={judgeHealth({ health: part.data }, deviceNow())} />
      <p className="dim">
        Queue, scan and the other findings concern the whole installation, so they require the role
        installation; yours is {me.role}.
      </p>
    </>
  );
}

function Diagnosis() {
  const query = useAnswer('/v1/diagnosis', {}, { refetchInterval: EVERY_MS });
  const part = usePart(query, { what: 'the diagnosis' });
  if (!part.data) return part.instead;
  const { data, failure } = part;
  return (
    <>
      {failure}
      <p className="dim">
        <Text value={data.project} /> · {data.environment} · version <Text value={data.version} /> · checked{' '}
        <When at={data.at} />
      </p>
      <Numbers of={data} />
      <Findings findings={judgeHealth({ diagnosis: { answer: data } }, Date.parse(data.at))} />
      <ScheduledFunctions functions={data.functions} />
      <Problems problems={data.problems} sample={data.sample} />
    </>
  );
}

type Diagnosed = Answer<'Diagnosis'>;

function Numbers({ of }: { readonly of: Diagnosed }) {
  const { findings, scan, queue, leases, operations, published, schedules } = of;
  const readings: readonly NamedReading[] = [
    {
      name: 'Scan lag',
      value: scan.lagMs === undefined ? '—' : duration(scan.lagMs),
      more: scan.due === undefined ? undefined : `${counted(scan.due, scan.isCut)} runs due`,
      isWrong: isWrong('scan', findings),
    },
    {
      name: 'Tasks in all queues',
      value: queue.depth === undefined ? '—' : counted(queue.depth, queue.isCut),
      more: [
        queue.state,
        queue.oldestMs === undefined ? undefined : `the oldest due for ${duration(queue.oldestMs)}`,
      ]
        .filter((one) => one !== undefined)
        .join(', '),
      isWrong: isWrong('queue', findings),
    },
    {
      name: 'Leases held',
      value: number(leases.held),
      more: leases.stale === undefined ? undefined : `${leases.stale} stale`,
      isWrong: isWrong('leases', findings),
    },
    { name: 'Schedules late', value: number(schedules.late), isWrong: isWrong('schedules', findings) },
    {
      name: 'Unpublished runs',
      value: published.isOn ? number(published.behind) : 'off',
    },
    {
      name: 'Operations/min',
      value: number(
        operations.lastMinute.reads + operations.lastMinute.writes + operations.lastMinute.deletes,
      ),
      more: `${number(operations.lastMinute.reads)} reads, ${number(operations.lastMinute.writes)} writes, ${number(operations.lastMinute.deletes)} deletes, of ${operations.of}`,
    },
  ];
  return <Readings of={readings} />;
}

const FUNCTION_COLUMNS: readonly Column<Diagnosed['functions'][number]>[] = [
  { title: 'Function', cell: ({ name }) => name, tone: () => 'mono' },
  { title: 'Last run', label: true, cell: ({ lastAt }) => <When at={lastAt} /> },
  { title: 'Took', label: true, cell: ({ tookMs }) => duration(tookMs) },
  {
    title: 'Outcome',
    cell: ({ outcome, error }) => (
      <>
        {outcome}
        {error && (
          <>
            : <Text value={error} />
          </>
        )}
      </>
    ),
    tone: ({ outcome }) => (outcome === 'failed' ? 'bad' : undefined),
  },
];

function ScheduledFunctions({ functions }: Pick<Diagnosed, 'functions'>) {
  return (
    <Scrolls label="Scheduled functions" isCard>
      <h2>Scheduled functions</h2>
      {functions.length === 0 ? (
        <p className="dim">No function has run yet. The first one runs within a minute of a deployment.</p>
      ) : (
        <StackTable rows={functions} columns={FUNCTION_COLUMNS} keyOf={({ name }) => name} />
      )}
    </Scrolls>
  );
}

function Problems({ problems, sample }: Pick<Diagnosed, 'problems' | 'sample'>) {
  return (
    <section className="card">
      <h2>Problems found</h2>
      <p className="dim">
        {sample ? (
          <>
            {sample.checked === 1
              ? '1 recent run was compared with its journal'
              : `${number(sample.checked)} recent runs were compared with their journals`}{' '}
            <When at={sample.at} />.
          </>
        ) : (
          'No run has been checked yet. A sample is checked every hour.'
        )}
      </p>
      {problems.length > 0 && (
        <ul>
          {problems.map(({ code, count }) => (
            <li key={code}>
              <code>{code}</code> × {count}
            </li>
          ))}
        </ul>
      )}
      {sample && problems.length === 0 && <p className="good">✓ Nothing was wrong.</p>}
    </section>
  );
}

const number = (value: number | undefined) => (value === undefined ? '—' : value.toLocaleString('en'));
const counted = (value: number, isCut = false) => `${number(value)}${isCut ? '+' : ''}`;
