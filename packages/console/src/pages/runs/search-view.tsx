/** Results of the search `?q=`. A single hit opens at once. */
import { Link, Redirect } from 'wouter';
import type { Answer } from '../../api/client.ts';
import { Scrolls } from '../../parts/scrolls.tsx';
import { Empty, Failure, Loading } from '../../parts/states.tsx';
import { Status } from '../../parts/status.tsx';
import { type Column, StackTable } from '../../parts/tables/stack-table.tsx';
import { CutText, Text } from '../../parts/value-text.tsx';
import { When } from '../../parts/when.tsx';
import { useAnswer } from '../../session/use-answer.ts';
import { NAMES } from './filter/filter.ts';
import { type RunRow, rowOf } from './row.ts';
import { useWorkflows } from './use-workflows.ts';

type SearchHit = Answer<'FoundRuns'>['items'][number];

const BY: Readonly<Record<SearchHit['by'], string>> = {
  run: 'its run id',
  delivery: 'the GitHub delivery that started it',
  idempotency_key: 'its idempotency key',
  thread: 'its thread',
  trace: 'its trace id',
  pull_request: 'its pull request',
  tag: 'its tag',
};

/** Limit of a value from data: a line or two. */
const MAX_CHARS = 200;

export function SearchView({ sought }: { readonly sought: string }) {
  const { data, error, refetch } = useAnswer('/v1/search', { query: { q: sought } });
  if (error && !data) return <Failure isPage error={error} again={() => void refetch()} />;
  if (!data) return <Loading what="what was found" />;
  const [only] = data.items;
  if (only && data.items.length === 1) return <Redirect to={`/runs/${only.run.id}`} replace />;
  if (data.items.length === 0) return <NothingFound sought={sought} />;
  const hits = data.items.map(({ by, run }) => ({ by, row: rowOf(run) }));
  return (
    <div className="runs-page">
      <header className="row runs-head">
        <h1>
          {data.items.length} runs by <Text value={sought} max={MAX_CHARS} />
        </h1>
        <span className="spring" />
        <Link href="/runs">All runs</Link>
      </header>
      <Scrolls label="Runs found">
        <StackTable className="found" rows={hits} columns={COLUMNS} keyOf={({ row }) => row.id} />
      </Scrolls>
    </div>
  );
}

interface Hit {
  readonly by: SearchHit['by'];
  readonly row: RunRow;
}

const COLUMNS: readonly Column<Hit>[] = [
  { title: 'Status', cell: ({ row }) => <Status status={row.status} /> },
  {
    title: 'Run',
    cell: ({ row }) => (
      <>
        <Link href={`/runs/${row.id}`}>
          <CutText value={row.type} max={200} />
        </Link>
        <br />
        <small className="mono dim">{row.id}</small>
      </>
    ),
  },
  { title: 'Found by', label: true, cell: ({ by }) => BY[by] },
  { title: 'Started', label: true, cell: ({ row }) => <When at={row.startedAt ?? row.createdAt} /> },
  { title: 'Now', cell: ({ row }) => <Text value={row.now} /> },
];

function NothingFound({ sought }: { readonly sought: string }) {
  return (
    <Empty title="No run found" isPage>
      <p>
        No run of this tenant matches “
        <Text value={sought} max={MAX_CHARS} />
        ”. Inputs and results are not searched.
      </p>
      <p>
        Search for a run id, or at least its first 6 characters after <code>run_</code>. These must be
        complete: the id of the GitHub delivery that started the run (<code>X-GitHub-Delivery</code>), its
        idempotency key, thread, trace id, a tag (<code>name:value</code>), or the address of its pull
        request. The field <em>Tag</em> of the list also takes prefixes and comparisons.
      </p>
      <WorkflowsNamed sought={sought} />
      <p>
        <Link href={`/runs?${NAMES.match}=${encodeURIComponent(sought)}`}>
          Look for it at the beginning of ids, keys, threads and tags
        </Link>
      </p>
      <p>
        <Link href="/runs">All runs</Link>
      </p>
    </Empty>
  );
}

/** Limit of the workflows named; the page Workflows has the others. */
const MAX_NAMED = 5;

/** Links to the runs of workflows whose name contains the text. */
function WorkflowsNamed({ sought }: { readonly sought: string }) {
  const { data } = useWorkflows(true);
  const wanted = sought.toLowerCase();
  const types =
    data?.items.map(({ type }) => type).filter((type) => type.toLowerCase().includes(wanted)) ?? [];
  if (types.length === 0) return null;
  return (
    <p>
      {types.length === 1 ? 'A workflow has' : 'Workflows have'} this in{' '}
      {types.length === 1 ? 'its' : 'their'} name. See the runs of{' '}
      {types.slice(0, MAX_NAMED).map((type, at) => (
        <span key={type}>
          {at > 0 && ', '}
          <Link href={`/runs?${NAMES.type}=${encodeURIComponent(type)}`}>
            <CutText value={type} max={MAX_CHARS} />
          </Link>
        </span>
      ))}
      {types.length > MAX_NAMED && (
        <>
          {' '}
          and <Link href="/workflows">{types.length - MAX_NAMED} more</Link>
        </>
      )}
    </p>
  );
}
