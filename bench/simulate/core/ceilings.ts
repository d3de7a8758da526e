/**
 * Computes the rate of runs at which each limit is reached, from the recorded traffic. The lowest limit is exceeded first. Pure.
 */
import { ownPlaces } from '../../../packages/cairn/src/core/encoding/queue-place.ts';
import { LIMITS } from '../limits.ts';
import { collectionWrites, opsOf, type Profile, rangeWrites } from '../traffic/profile.ts';
import { type Plan, tenantId } from './plan.ts';

export interface Ceiling {
  readonly limit: string;
  /** Runs per second at the limit, for all tenants together, with equal load. */
  readonly runsPerSecond: number;
}

export function ceilings(profile: Profile, plan: Plan): Ceiling[] {
  const { drive: driveMs, dispatches } = timesOf(profile, plan);
  const busiest = shareOfBusiest(plan);
  const cpu = cpuOf(profile);
  const rows: Ceiling[] = [
    {
      limit: 'queue: dispatches a second',
      runsPerSecond: LIMITS.queueDispatches.value / (busiest * dispatches),
    },
    {
      limit: 'queue: dispatches at a time',
      runsPerSecond: (plan.queueConcurrent * 1000) / (busiest * driveMs),
    },
    { limit: 'drive: instances', runsPerSecond: (plan.instances * plan.concurrency * 1000) / driveMs },
    { limit: 'drive: processors', runsPerSecond: (plan.instances * 1000) / cpu.drives },
    { limit: 'api: processors', runsPerSecond: (plan.apiInstances * 1000) / cpu.api },
  ];
  for (const [index, { by, writes }] of rangeWrites(profile)) {
    const parts = by === 'tenant' ? plan.tenants : by === 'shard' ? plan.shards : 1;
    rows.push({ limit: `index ${index}`, runsPerSecond: (parts * LIMITS.rangePerSecond.value) / writes });
  }
  if (plan.isNew) {
    for (const [collection, writes] of collectionWrites(profile))
      rows.push({ limit: `new collection ${collection}`, runsPerSecond: LIMITS.rampStart.value / writes });
  }
  return rows.sort((a, b) => a.runsPerSecond - b.runsPerSecond);
}

/** Share of the runs in the busiest queue, with equal load of all tenants. */
function shareOfBusiest({ queues, queuesPerTenant: perTenant, tenants }: Plan): number {
  const shares = new Array<number>(queues).fill(0);
  for (let tenant = 0; tenant < tenants; tenant += 1) {
    const own = ownPlaces({ queues, perTenant }, tenantId(tenant));
    for (const place of own) shares[place] = (shares[place] ?? 0) + 1 / (own.length * tenants);
  }
  return Math.max(...shares);
}

/** Instances that the load keeps busy, up to their maximum. */
export function ceilingOfInstances(
  profile: Profile,
  plan: Plan,
): { readonly drives: number; readonly api: number } {
  const perSecond = plan.rate + plan.flood;
  const cpu = cpuOf(profile);
  const byCpu = (ms: number) => (perSecond * ms) / (1000 * LIMITS.cpuTarget.value);
  const byRoom =
    (perSecond * timesOf(profile, plan).drive) / (1000 * plan.concurrency * LIMITS.cpuTarget.value);
  return {
    drives: Math.min(plan.instances, Math.ceil(Math.max(byCpu(cpu.drives), byRoom))),
    api: Math.min(plan.apiInstances, Math.ceil(byCpu(cpu.api))),
  };
}

/** Duration of all dispatches of a run without waits, with median latencies, ms. */
export function timesOf(
  { dispatches }: Profile,
  { readMs, commitMs }: Pick<Plan, 'readMs' | 'commitMs'>,
): { readonly drive: number; readonly dispatches: number } {
  const ms = ({ kind }: { readonly kind: 'read' | 'commit' }) =>
    LIMITS.requestCpuMs.value + (kind === 'read' ? readMs : commitMs);
  const drive = dispatches.flatMap(({ stages }) =>
    stages.map((stage) =>
      stage.kind === 'bodies' ? stage.ms : stage.ops.reduce((sum, op) => sum + ms(op), 0),
    ),
  );
  return { drive: drive.reduce((sum, one) => sum + one, 0), dispatches: dispatches.length };
}

/** Processor time of a run, ms. */
function cpuOf({ start, dispatches }: Profile): { readonly drives: number; readonly api: number } {
  const request = LIMITS.requestCpuMs.value;
  return {
    drives: request * dispatches.flatMap(opsOf).length,
    api: LIMITS.startCpuMs.value + request * start.length,
  };
}
