/** The tree of runs to which a run belongs as parent or child, with links down and up. */
import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { isFinal } from '../../../parts/run-status.ts';
import { Status } from '../../../parts/status.tsx';
import { CutText, Text } from '../../../parts/value-text.tsx';
import { Took } from '../../../parts/when.tsx';
import { useSession } from '../../../session/session.ts';
import type { Run } from '../live/events.ts';
import { useRunData } from '../live/run-data.ts';
import { familyOf, topOf } from './family.ts';
import { hasFamily, MAX_READ, THREAD_PAGE, threadQuery } from './thread.ts';

/** Interval per page that was read, so that a large family does not cost more reads. */
const REREAD_MS = 5_000;

export function FamilyTree({ run }: { readonly run: Run }) {
  const { graph } = useRunData();
  const isRelated = hasFamily(run, graph?.nodes);
  const { api } = useSession();
  const { data } = useQuery({
    ...threadQuery(api, run),
    enabled: isRelated,
    refetchInterval: ({ state: { data: last } }) =>
      last?.items.every(({ status }) => isFinal(status)) && isFinal(run.status)
        ? false
        : REREAD_MS * Math.ceil(Math.max(1, last?.items.length ?? 0) / THREAD_PAGE),
  });
  if (!isRelated || !data) return null;
  const rows = familyOf(data.items, topOf(run));
  if (rows.length < 2) return null;
  return (
    <details open className="family" aria-label="Child runs">
      <summary>
        <b>Child runs</b> <span className="dim">{`${rows.length} runs in this tree`}</span>
      </summary>
      <ul>
        {rows.map(({ run: one, depth }) => (
          <li
            key={one.id}
            style={{ '--depth': depth } as object}
            aria-current={one.id === run.id ? 'true' : undefined}
          >
            <Status status={one.status} />{' '}
            {one.id === run.id ? (
              <b>
                <Text value={one.type} max={80} />
              </b>
            ) : (
              <Link href={`/runs/${encodeURIComponent(one.id)}`}>
                <CutText value={one.type} max={80} />
              </Link>
            )}{' '}
            {one.parent && (
              <span className="dim">
                step <Text value={one.parent.stepId} max={80} />
              </span>
            )}{' '}
            <span className="dim mono">{one.id}</span>{' '}
            <span className="dim">
              <Took run={one} />
            </span>
          </li>
        ))}
      </ul>
      {data.isCut && (
        <p className="dim">
          Only the newest {MAX_READ} runs of the thread are searched.{' '}
          <Link href={`/runs?thread=${encodeURIComponent(run.threadId)}`}>All runs of the thread</Link>
        </p>
      )}
    </details>
  );
}
