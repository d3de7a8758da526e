/** Runs as the API lists them, with the members that a row needs. */
import type { RunRow, RunSummary } from '../../../../packages/console/src/pages/runs/row.ts';

const NOBODY = {
  running: 0,
  retrying: 0,
  waiting: 0,
  succeeded: 0,
  degraded: 0,
  skipped: 0,
  reused: 0,
  failed: 0,
};

export function summary(part: Partial<RunSummary> = {}): RunSummary {
  const { steps, ...rest } = part;
  return {
    id: 'run_a',
    status: 'running',
    type: 'review',
    planVersion: 1,
    threadId: 'run_a',
    trigger: { source: 'api' },
    steps: { begun: 0, ...NOBODY, ...steps },
    waits: [],
    waitCount: part.waits?.length ?? 0,
    inFlight: [],
    running: [],
    runningCount: part.running?.length ?? 0,
    compensating: false,
    createdAt: '2026-01-01T00:00:00.000Z',
    ...rest,
  } as unknown as RunSummary;
}

/** A higher number makes a newer run. */
export function rowNumber(number: number, status = 'running'): RunRow {
  return {
    id: `run_${String(number).padStart(6, '0')}`,
    status,
    type: 'review',
    planVersion: 1,
    threadId: 't',
    tags: [],
    source: 'api',
    createdAt: new Date(1_700_000_000_000 + number * 1_000).toISOString(),
    done: 0,
    skipped: 0,
    failed: 0,
    begun: 0,
    now: '',
    questions: [],
    isChild: false,
  };
}
