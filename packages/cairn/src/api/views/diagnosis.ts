/** Diagnosis of the installation, as admins see it. Values that could not be determined are absent, with a finding. */
import { iso } from '../../core/run/readable.ts';
import type { Diagnosis } from '../../operations/diagnosis/diagnose.ts';
import { SCHEDULED_FUNCTIONS, type StoredHeartbeats } from '../../ports/diagnosis/heartbeats.ts';
import type { BilledOperations } from '../../ports/diagnosis/operations.ts';
import type { SeenQueue } from '../../ports/diagnosis/queue-probe.ts';
import type { View } from './run.ts';

interface InstallationFacts {
  readonly version: string;
  readonly project: string;
  readonly environment: string;
  readonly publishes: boolean;
}

export function diagnosisView(diagnosis: Diagnosis, facts: InstallationFacts): View {
  const { at, skewMs, findings, storedHeartbeats, waking, queue, lateSchedules, operations } = diagnosis;
  const { version, project, environment, publishes } = facts;
  return {
    at: iso(at),
    version,
    project,
    environment,
    clockSkewMs: skewMs,
    findings: findings.map((finding) => ({ ...finding })),
    functions: storedHeartbeats ? functionsView(storedHeartbeats) : [],
    scan: {
      lastAt: storedHeartbeats?.latest.recoverRuns && iso(storedHeartbeats.latest.recoverRuns.at),
      ...(waking ? { lagMs: waking.lagMs, due: waking.due, isCut: waking.isCut } : {}),
    },
    queue: queue ? queueView(queue, at) : {},
    leases: waking ? { held: waking.held, stale: waking.stale } : {},
    problems: Object.entries(storedHeartbeats?.latest.found?.problems ?? {}).map(([code, count]) => ({
      code,
      count,
    })),
    sample: storedHeartbeats?.latest.found && {
      at: iso(storedHeartbeats.latest.found.at),
      checked: storedHeartbeats.latest.found.checked,
    },
    schedules: lateSchedules ? { ...lateSchedules } : {},
    published: { isOn: publishes, behind: waking?.behind },
    operations: {
      of: 'this instance',
      since: iso(operations.since),
      total: billed(operations.total()),
      lastMinute: billed(operations.lastMinute()),
    },
  };
}

function functionsView({ latest }: StoredHeartbeats): View[] {
  return SCHEDULED_FUNCTIONS.flatMap((name) => {
    const heartbeat = latest[name];
    if (!heartbeat) return [];
    const { at, tookMs, outcome, error } = heartbeat;
    return [{ name, lastAt: iso(at), tookMs, outcome, error }];
  });
}

function queueView(queue: SeenQueue, at: number): View {
  if (queue.kind !== 'seen') return { state: queue.kind };
  const { state, tasks } = queue;
  if (tasks.kind === 'denied') return { state };
  const { depth, isCut, oldestDueAt } = tasks;
  const oldestMs = oldestDueAt === undefined ? undefined : Math.max(0, at - oldestDueAt);
  return { state, depth, isCut, oldestMs };
}

function billed({ reads, writes, deletes }: BilledOperations): View {
  return { reads, writes, deletes };
}
