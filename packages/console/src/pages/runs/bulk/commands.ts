/** A bulk change as shell commands. Pure. The API key appears as a variable, never as its value. */
import { cliText, curlText, option } from '../../../parts/command-text.ts';
import type { AnsweredQuestion, BulkMode } from './plan.ts';

/** Limit of the API for one request. */
const MAX_RUNS = 100;

interface BulkChange {
  readonly mode: BulkMode;
  readonly runs: readonly BulkRun[];
  /** Names the change. A run is not changed again under the same name. */
  readonly batch: string;
  /** The reason given for a cancel or an approval. */
  readonly reason?: string | undefined;
}

export interface BulkRun {
  readonly id: string;
  readonly question?: AnsweredQuestion | undefined;
}

export function bulkRequestBody({ mode, runs, batch, reason }: BulkChange) {
  return {
    act: mode,
    batch,
    runs: runs.map(({ id, question }) => (question ? { runId: id, ...question } : id)),
    ...(mode === 'cancel' && reason !== undefined && { reason }),
    ...(mode === 'approve' && reason !== undefined && { note: reason }),
  };
}

/** A request for each hundred. */
export function curlBulk(change: BulkChange, origin: string): string {
  return parts(change)
    .map((part) => curlText({ method: 'POST', target: '/v1/runs/bulk', body: bulkRequestBody(part) }, origin))
    .join('\n');
}

export function cliBulk(change: BulkChange): string {
  return parts(change)
    .map(({ mode, runs, reason, batch }) => {
      const why = option(mode === 'approve' ? 'note' : 'reason', reason);
      const takes = mode === 'cancel' || mode === 'approve' ? why : [];
      return cliText([
        ...['runs', 'bulk', mode],
        ...runs.flatMap(({ id }) => ['--run', id]),
        ...takes,
        ...['--key', batch, '--yes'],
      ]);
    })
    .join('\n');
}

function parts(change: BulkChange): BulkChange[] {
  const { runs } = change;
  return Array.from({ length: Math.ceil(runs.length / MAX_RUNS) }, (_, i) => ({
    ...change,
    runs: runs.slice(i * MAX_RUNS, (i + 1) * MAX_RUNS),
  }));
}
