/** Outcome of the last slot of a schedule, and the run that it started. */
import { Link } from 'wouter';
import type { Answer } from '../../api/client.ts';
import { When } from '../../parts/when.tsx';

export function LastOutcome({ last }: Pick<Answer<'ScheduleSummary'>, 'last'>) {
  if (!last) return <span className="dim">never</span>;
  if (last.error)
    return (
      <span className="bad">
        <code>{last.error.code}</code> <When at={last.slot} />
      </span>
    );
  if (last.runId === undefined) return <When at={last.slot} />;
  return (
    <Link href={`/runs/${last.runId}`}>
      <When at={last.slot} />
    </Link>
  );
}
