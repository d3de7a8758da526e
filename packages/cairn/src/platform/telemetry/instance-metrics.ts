/**
 * Metrics of this instance since it started, in memory. They end with the instance, which collectors treat as a counter
 * reset.
 *
 * Must not: grow with runs. Series are by tenant (bounded), deployed type, status, capability and
 * end.
 */
import { BoundedMap } from '../../core/bounded-map.ts';
import {
  type Conflict,
  type CountReader,
  type Dispatches,
  type DispatchMetric,
  DURATION_BOUNDS_MS,
  type Durations,
  type EffectMetric,
  type Histogram,
  type KeyedResponse,
  type Metrics,
  type RunEndMetric,
  type TenantCounts,
  type Transition,
} from '../../ports/metrics.ts';

/** About 20 KiB each with a dozen workflows. The tenant with the oldest last count is evicted. */
const TENANTS_KEPT = 500;

type Counter<T> = Map<string, T & { count: number }>;

type HistogramTally<T extends Histogram> = Omit<T, keyof Histogram> & {
  count: number;
  sumMs: number;
  readonly within: number[];
};

interface TenantSeries {
  readonly transitions: Counter<Omit<Transition, 'tenantId'>>;
  readonly durations: Map<string, HistogramTally<Durations>>;
  readonly answers: Counter<Omit<KeyedResponse, 'tenantId'>>;
  readonly effects: Counter<Omit<EffectMetric, 'tenantId'>>;
  readonly conflicts: Counter<Omit<Conflict, 'tenantId'>>;
  readonly dispatches: Map<string, HistogramTally<Dispatches>>;
}

export class InstanceMetrics implements Metrics, CountReader {
  readonly #tenants = new BoundedMap<string, TenantSeries>(TENANTS_KEPT);

  transition({ tenantId, from, to }: Transition): void {
    bump(this.#of(tenantId).transitions, `${from} ${to}`, { from, to });
  }

  ended({ tenantId, type, status, durationMs }: RunEndMetric): void {
    const { durations } = this.#of(tenantId);
    const name = `${status} ${type}`;
    const tally = durations.get(name) ?? { type, status, ...empty() };
    measure(tally, durationMs);
    durations.set(name, tally);
  }

  answered({ tenantId, source, result }: KeyedResponse): void {
    bump(this.#of(tenantId).answers, `${source} ${result}`, { source, result });
  }

  effect({ tenantId, capabilityId, outcome }: EffectMetric): void {
    bump(this.#of(tenantId).effects, `${outcome} ${capabilityId}`, { capabilityId, outcome });
  }

  conflict({ tenantId, leased }: Conflict): void {
    bump(this.#of(tenantId).conflicts, String(leased), { leased });
  }

  dispatch({ tenantId, end, cold, durationMs }: DispatchMetric): void {
    const { dispatches } = this.#of(tenantId);
    const name = `${end} ${cold}`;
    const tally = dispatches.get(name) ?? { end, cold, ...empty() };
    measure(tally, durationMs);
    dispatches.set(name, tally);
  }

  countsOf(tenantId: string): TenantCounts {
    const counted = this.#tenants.get(tenantId);
    return {
      transitions: [...(counted?.transitions.values() ?? [])],
      durations: [...(counted?.durations.values() ?? [])],
      answers: [...(counted?.answers.values() ?? [])],
      effects: [...(counted?.effects.values() ?? [])],
      conflicts: [...(counted?.conflicts.values() ?? [])],
      dispatches: [...(counted?.dispatches.values() ?? [])],
    };
  }

  #of(tenantId: string): TenantSeries {
    const known = this.#tenants.get(tenantId);
    const counted = known ?? {
      transitions: new Map(),
      durations: new Map(),
      answers: new Map(),
      effects: new Map(),
      conflicts: new Map(),
      dispatches: new Map(),
    };
    this.#tenants.set(tenantId, counted);
    return counted;
  }
}

function empty() {
  return { count: 0, sumMs: 0, within: DURATION_BOUNDS_MS.map(() => 0) };
}

function measure(tally: HistogramTally<Histogram>, durationMs: number): void {
  tally.count += 1;
  tally.sumMs += durationMs;
  for (const [i, boundMs] of DURATION_BOUNDS_MS.entries()) {
    if (durationMs <= boundMs) tally.within[i] = (tally.within[i] ?? 0) + 1;
  }
}

function bump<T extends object>(counter: Counter<T>, name: string, labels: T): void {
  const counted = counter.get(name);
  if (counted) counted.count += 1;
  else counter.set(name, { ...labels, count: 1 });
}
