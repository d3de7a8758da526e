/** The caller's live runs: how many, and which of them are suspects or overdue. */
import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import type { Api } from '../../api/client.ts';
import { deviceNow } from '../../api/device-clock.ts';
import { readPages } from '../../api/read-pages.ts';
import { Readings } from '../../parts/readings/readings.tsx';
import { Scrolls } from '../../parts/scrolls.tsx';
import { type Column, StackTable } from '../../parts/tables/stack-table.tsx';
import { Text } from '../../parts/value-text.tsx';
import { When } from '../../parts/when.tsx';
import { useSession } from '../../session/session.ts';
import { attentionOf, type LiveRun, type LiveRuns, suspicionText } from './live-runs.ts';
import { usePart } from './use-part.tsx';

const LIVE = 'pending,running,replaying,awaiting_approval,waiting_external,interrupted';
/** Limit of the pages read. They cost as many reads as the statistics. */
const PAGES = 10;
const EVERY_MS = 60_000;
/** Limit of the rows of a table; more would not help a person. */
const MAX_SHOWN = 100;

export function Live() {
  const { api } = useSession();
  const query = useQuery({
    queryKey: ['health', 'live'],
    queryFn: ({ signal }) => readLive(api, signal),
    refetchInterval: EVERY_MS,
    refetchIntervalInBackground: false,
  });
  const part = usePart(query, { what: 'the live runs' });
  if (!part.data) return part.instead;
  const { runs, isCut } = part.data;
  const { suspects, overdue } = attentionOf(runs, deviceNow() + api.reach.shown().clockOffsetMs);
  const [oldest] = overdue;
  return (
    <section className="stack" aria-label="Live runs">
      <h2>Live runs</h2>
      <p className="dim">
        {isCut
          ? `The newest ${runs.length.toLocaleString('en')} runs of your tenant that have not ended; older ones were not read.`
          : 'All runs of your tenant that have not ended.'}
      </p>
      <Readings
        of={[
          { name: 'Live', value: `${runs.length.toLocaleString('en')}${isCut ? '+' : ''}` },
          {
            name: 'Suspects',
            value: `${suspects.length}${isCut ? '+' : ''}`,
            more: 'their worker died',
            isWrong: suspects.length > 0,
          },
          {
            name: 'Overdue',
            value: `${overdue.length}${isCut ? '+' : ''}`,
            more: oldest && `the oldest is ${oldest.id}`,
            isWrong: overdue.length > 0,
          },
        ]}
      />
      <RunTable title="Suspects" runs={suspects} column="Died" of={(run) => suspicionText(run)} />
      <RunTable
        title="Overdue, the oldest first"
        runs={overdue}
        column="Due"
        of={({ wakeAt }) => <When at={wakeAt} />}
      />
    </section>
  );
}

interface RunTableProps<R extends LiveRun> {
  readonly title: string;
  readonly runs: readonly R[];
  readonly column: string;
  of(run: R): React.ReactNode;
}

function RunTable<R extends LiveRun>({ title, runs, column, of }: RunTableProps<R>) {
  if (runs.length === 0) return null;
  const columns: readonly Column<R>[] = [
    {
      title: 'Run',
      cell: ({ id }) => (
        <Link href={`/runs/${id}`} className="mono">
          {id}
        </Link>
      ),
    },
    { title: 'Workflow', label: true, cell: ({ type }) => <Text value={type} max={100} /> },
    { title: column, label: true, cell: of },
  ];
  return (
    <Scrolls label={title} isCard>
      <h3>{title}</h3>
      <StackTable rows={runs.slice(0, MAX_SHOWN)} columns={columns} keyOf={({ id }) => id} />
      {runs.length > MAX_SHOWN && <p className="dim">and {runs.length - MAX_SHOWN} more</p>}
    </Scrolls>
  );
}

async function readLive(api: Api, signal: AbortSignal): Promise<LiveRuns> {
  const { items: runs, isCut } = await readPages<LiveRun>(PAGES, async (cursor) => {
    const query = { status: LIVE, limit: '100', cursor };
    const { items, next } = await api.get('/v1/runs', { query, signal });
    return { items: items.map(({ id, type, suspect, wakeAt }) => ({ id, type, suspect, wakeAt })), next };
  });
  return { runs, isCut };
}
