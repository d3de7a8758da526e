/** Each run that a change is about: hit or not, and what came of it. */
import { ApiError } from '../../../api/problem.ts';
import { Status } from '../../../parts/status.tsx';
import { Text } from '../../../parts/value-text.tsx';
import type { BulkMode } from './plan.ts';
import type { Target } from './use-bulk.ts';

interface TargetTableProps {
  readonly mode: BulkMode;
  readonly targets: readonly Target[];
}

export function TargetTable({ mode, targets }: TargetTableProps) {
  if (targets.length === 0) return null;
  const hit = targets.filter(({ verdict }) => verdict === undefined || verdict.isHit);
  const missed = targets.filter(({ verdict }) => verdict?.isHit === false);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by the keyboard
    <section className="targets" tabIndex={0} aria-label="What is hit">
      {hit.length > 0 && <Part title={mode === 'cancel' ? 'To cancel' : 'To resume'} targets={hit} />}
      {missed.length > 0 && <Part title="Not hit" targets={missed} />}
    </section>
  );
}

function Part({ title, targets }: { readonly title: string; readonly targets: readonly Target[] }) {
  return (
    <table>
      <caption>
        {title} ({targets.length})
      </caption>
      <tbody>
        {targets.map((target) => (
          <tr key={target.row.id} data-run={target.row.id}>
            <td>
              <Status status={target.row.status} />
            </td>
            <td>
              <Text value={target.row.type} /> <small className="mono dim">{target.row.id}</small>
            </td>
            <td>
              <Came target={target} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Came({ target: { row, verdict, sent } }: { readonly target: Target }) {
  switch (sent?.at) {
    case 'waiting':
      return <span className="dim">waits for its turn</span>;
    case 'sending':
      return (
        <span className="dim">
          <span className="spinner" aria-hidden="true" /> sending
        </span>
      );
    case 'failed':
      return (
        <span className="bad">
          ✕ {sent.error instanceof ApiError && <code>{sent.error.problem.code}</code>}{' '}
          <Text value={sent.error instanceof Error ? sent.error.message : String(sent.error)} />
        </span>
      );
    case 'done':
      return (
        <span className="good">
          ✓{' '}
          {sent.answer.runId === row.id ? (
            sent.answer.what
          ) : (
            <a href={`/runs/${sent.answer.runId}`}>{sent.answer.what}</a>
          )}
        </span>
      );
  }
  if (verdict === undefined) return <span className="dim">is looked at…</span>;
  return verdict.isHit ? verdict.what : <Text value={verdict.why} />;
}
