/** Metrics of one tenant: runs, idempotency, dispatches, ledger and journal. */

import { DURATION_BOUNDS_MS, type Histogram, type TenantCounts } from '../../../ports/metrics.ts';
import type { ActiveRuns } from '../../../ports/run-statistics.ts';
import type { Family, Labels, Sample } from './prometheus.ts';

const PER_INSTANCE = 'Counted by the responding instance since it started.';

export interface Measured {
  readonly tenantId: string;
  readonly counts: TenantCounts;
  readonly active: readonly ActiveRuns[];
}

export function families({ tenantId, counts, active }: Measured): Family[] {
  return [
    {
      name: 'gwi_run_transitions_total',
      type: 'counter',
      help: `Status changes of runs. ${PER_INSTANCE}`,
      samples: counts.transitions.map(({ from, to, count }) => ({
        labels: { from_state: from, to_state: to, tenant_id: tenantId },
        value: count,
      })),
    },
    {
      name: 'gwi_run_duration_seconds',
      type: 'histogram',
      help: `Time from the start of a run to its end, including waits. ${PER_INSTANCE}`,
      samples: counts.durations.flatMap(({ type, status, ...ended }) =>
        histogram(ended, { type, status, tenant_id: tenantId }),
      ),
    },
    {
      name: 'gwi_run_active_gauge',
      type: 'gauge',
      help: 'Runs that have not ended, counted in the store. The same for every instance, at most a few seconds old.',
      samples: active.map(({ status, runs }) => ({ labels: { status, tenant_id: tenantId }, value: runs })),
    },
    {
      name: 'gwi_idempotency_hits_total',
      type: 'counter',
      help: `Requests with an idempotency key: hit, a repetition; miss, a new request. ${PER_INSTANCE}`,
      samples: counts.answers.map(({ source, result, count }) => ({
        labels: { source, result },
        value: count,
      })),
    },
    {
      name: 'gwi_effects_total',
      type: 'counter',
      help: `Effect calls of steps by outcome. ${PER_INSTANCE}`,
      samples: counts.effects.map(({ capabilityId, outcome, count }) => ({
        labels: { capability: capabilityId, outcome, tenant_id: tenantId },
        value: count,
      })),
    },
    {
      name: 'gwi_journal_conflicts_total',
      type: 'counter',
      help: `Journal appends that lost to a concurrent append. ${PER_INSTANCE}`,
      samples: counts.conflicts.map(({ leased, count }) => ({
        labels: { leased: String(leased), tenant_id: tenantId },
        value: count,
      })),
    },
    {
      name: 'gwi_drive_duration_seconds',
      type: 'histogram',
      help: `Duration of dispatches by result. ${PER_INSTANCE}`,
      samples: counts.dispatches.flatMap(({ end, cold, ...ended }) =>
        histogram(ended, { end, cold: String(cold), tenant_id: tenantId }),
      ),
    },
  ];
}

function histogram({ count, sumMs, within }: Histogram, labels: Labels): Sample[] {
  const bucket = (le: string, value: number): Sample => ({
    suffix: '_bucket',
    labels: { ...labels, le },
    value,
  });
  return [
    ...DURATION_BOUNDS_MS.map((boundMs, i) => bucket(String(boundMs / 1_000), within[i] ?? 0)),
    bucket('+Inf', count),
    { suffix: '_sum', labels, value: sumMs / 1_000 },
    { suffix: '_count', labels, value: count },
  ];
}
