/** The result of one simulation, for people and as the line of JSON. Pure. */
import type { SimulateArguments } from './arguments.ts';
import { type Ceiling, ceilings } from './core/ceilings.ts';
import type { Percentiles, Result } from './core/plan.ts';
import { type Price, priceOf } from './core/price.ts';
import { type Profile, totalOf } from './traffic/profile.ts';

export interface Report {
  readonly traffic: SimulateArguments['traffic'] & ReturnType<typeof totalOf>;
  readonly plan: SimulateArguments['plan'];
  readonly result: Result;
  /** The limit that makes the backlog grow; absent if the load is sustained. */
  readonly breaksFirst: string | undefined;
  /** The lowest first. */
  readonly ceilings: readonly Ceiling[];
  /** US dollars for a million steps. */
  readonly price: Price;
}

export function reportOf({ traffic, plan }: SimulateArguments, profile: Profile, result: Result): Report {
  const limits = ceilings(profile, plan);
  return {
    traffic: { ...traffic, ...totalOf(profile) },
    plan,
    result,
    breaksFirst: result.holds ? undefined : firstToGive(limits, plan.rate + plan.flood, result),
    ceilings: limits,
    price: priceOf(profile, result, plan.location),
  };
}

/**
 * The lowest limit that the load exceeds, because runs waiting for it occupy other places; otherwise the limit with the longest
 * wait.
 */
function firstToGive(limits: readonly Ceiling[], rate: number, { held }: Result): string {
  const [lowest] = limits;
  return lowest && lowest.runsPerSecond < rate ? lowest.limit : (held[0]?.limit ?? 'nothing');
}

const SHOWN_LIMITS = 6;

export function textOf({ traffic, plan, result, breaksFirst, ceilings: limits, price }: Report): string {
  const { reads, writes, commits } = traffic;
  const held = result.held
    .slice(0, SHOWN_LIMITS)
    .map(({ limit, ms }) => `  ${limit}: ${seconds(ms / result.started)} a run`);
  const lines = [
    `A run of ${traffic.steps} steps costs ${writes} writes in ${commits} commits and reads ${reads} (recorded on the engine).`,
    `${plan.rate} starts a second${plan.flood > 0 ? ` and ${plan.flood} of one tenant` : ''}, ${plan.tenants} tenants, ${seconds(plan.forMs)}: ${
      breaksFirst === undefined ? 'borne' : `not borne; first gives way: ${breaksFirst}`
    }`,
    `${result.started} started, ${result.ended} ended, ${result.waiting} waiting; ${result.instances} instances; ${result.refused} requests refused, ${result.foundByScan} runs found by the scan`,
    `run: ${percentiles(result.run)}`,
    `wait for a dispatch: ${percentiles(result.wait)}`,
    ...(plan.flood > 0
      ? [
          `  of the tenant that floods: ${percentiles(result.waitOfFlooding)}`,
          `  of all others: ${percentiles(result.waitOfOthers)}`,
        ]
      : []),
    ...(held.length > 0 ? ['what made runs wait:', ...held] : []),
    'what each limit bears, runs a second:',
    ...limits
      .slice(0, SHOWN_LIMITS)
      .map(({ limit, runsPerSecond }) => `  ${limit}: ${Math.round(runsPerSecond)}`),
    `a million steps: $${price.total.toFixed(2)} (${Object.entries(price)
      .filter(([part]) => part !== 'total')
      .map(([part, usd]) => `${part} ${usd.toFixed(2)}`)
      .join(', ')})`,
  ];
  return `${lines.join('\n')}\n`;
}

function percentiles(found: Percentiles | undefined): string {
  if (!found) return 'none';
  return `median ${seconds(found.p50)}, 95th percentile ${seconds(found.p95)}, 99th ${seconds(found.p99)}`;
}

/** Rounded to the precision of a simulation with assumed latencies. */
export function seconds(ms: number): string {
  const s = ms / 1000;
  return `${s < 10 ? s.toFixed(2) : s < 100 ? s.toFixed(1) : s.toFixed(0)} s`;
}
