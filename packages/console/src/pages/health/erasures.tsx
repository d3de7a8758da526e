/** Erasures on request: who asked, when, and what is gone. With the role installation those of all tenants. */
import type { Answer } from '../../api/client.ts';
import { More } from '../../parts/more.tsx';
import { Scrolls } from '../../parts/scrolls.tsx';
import { type Column, StackTable } from '../../parts/tables/stack-table.tsx';
import { usePages } from '../../parts/use-pages.ts';
import { Text } from '../../parts/value-text.tsx';
import { When } from '../../parts/when.tsx';
import { useSession } from '../../session/session.ts';
import { usePart } from './use-part.tsx';

const PAGE = '20';
const EVERY_MS = 10_000;

type ListedErasure = Answer<'ErasurePage'>['items'][number];

/** Names of the counts, in the order in which they are shown. */
const KINDS: Readonly<Record<keyof ListedErasure['gone'], string>> = {
  runs: 'runs',
  documents: 'documents of runs',
  effects: 'effects',
  records: 'idempotency records',
  waits: 'waits',
  schedules: 'schedules',
  published: 'events published before',
};

export function Erasures() {
  const { api } = useSession();
  const list = usePages({
    queryKey: ['health', 'erasures'],
    read: (cursor, signal) => api.get('/v1/erasures', { query: { limit: PAGE, cursor }, signal }),
    rereadMs: EVERY_MS,
  });
  const read = { data: list.pages, error: list.error, refetch: list.again };
  const part = usePart(read, { what: 'the erasures', isLast: true });
  if (!part.data) return part.instead;
  const { items } = list;
  return (
    <Scrolls label="Erasures on request" isCard>
      <h2>Erasures on request</h2>
      {part.failure}
      {items.length === 0 ? (
        <p className="dim">Nothing was erased on request.</p>
      ) : (
        <StackTable rows={items} columns={COLUMNS} keyOf={({ id }) => id} />
      )}
      <More of={list}>More</More>
    </Scrolls>
  );
}

const COLUMNS: readonly Column<ListedErasure>[] = [
  { title: 'Requested', cell: ({ requestedAt }) => <When at={requestedAt} /> },
  {
    title: 'By',
    label: true,
    cell: ({ requestedBy }) =>
      requestedBy === undefined ? 'a user, named in the log' : <Text value={requestedBy} />,
  },
  {
    title: 'Erases',
    cell: ({ id, scope }) => (
      <>
        {scope === 'tenant' ? 'a tenant' : 'a run with its lineage'}
        <div className="hint mono">{id}</div>
      </>
    ),
  },
  {
    title: 'State',
    cell: ({ state, finishedAt, keptBy, lineagesLeft }) => (
      <>
        {state === 'done' ? (
          <>
            <span className="good">✓ nothing is left</span> {finishedAt && <When at={finishedAt} />}
          </>
        ) : (
          <span className="warn">
            under way
            {lineagesLeft > 0 && `, ${lineagesLeft} ${lineagesLeft === 1 ? 'lineage' : 'lineages'} left`}
          </span>
        )}
        {keptBy && (
          <div className="hint">
            kept by <Text value={keptBy.runId} />: {keptBy.why}
          </div>
        )}
      </>
    ),
  },
  { title: 'Gone', label: true, cell: ({ gone }) => countsText(gone) },
];

function countsText(gone: ListedErasure['gone']): string {
  const counts = Object.entries(KINDS)
    .map(([kind, name]) => [gone[kind as keyof ListedErasure['gone']], name] as const)
    .filter(([count]) => count > 0)
    .map(([count, name]) => `${count} ${name}`);
  return counts.length === 0 ? 'nothing yet' : counts.join(', ');
}
