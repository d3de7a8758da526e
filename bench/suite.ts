/** The workloads of a benchmark, their order and repetitions. Knows no flags and prints nothing. */
import { loadavg } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { PRODUCTION_SETTINGS } from '../packages/cairn/src/engine/settings.ts';
import type { BenchData, WorkloadName } from './arguments.ts';
import { type CrowdedDeath, crowdedDeath } from './cloud/crowded-death.ts';
import { type MeasuredCloud, startMeasuredCloud } from './cloud/measured-cloud.ts';
import { type Discovery, discovery } from './codebase/discovery.ts';
import { type Reload, reload } from './codebase/reload.ts';
import { type ColdStart, coldStarts } from './cold/cold-start.ts';
import { type Operations, operationsOf, type StartUp, startUp } from './footprint.ts';
import { type Installed, installation } from './install.ts';
import { type LargeMap, largeMap } from './large-map.ts';
import { type ProcessorUse, withProcessorUse } from './processes.ts';
import { type KillToNextStep, killToNextStep, type Resume, resumed } from './recovery.ts';
import { rounded } from './statistics.ts';
import {
  type Chain,
  chain,
  fanOut,
  type Latency,
  manyAtOnce,
  type OneKey,
  oneAtATime,
  oneKey,
  type Throughput,
} from './workloads.ts';

export interface SuiteOptions {
  readonly only: ReadonlySet<WorkloadName>;
  readonly data: BenchData;
  readonly workers: number;
  /** Runs of W1. */
  readonly runs: number;
  /** Called with the figures of a workload as soon as it ends. */
  report(name: WorkloadName, figures: object): void;
}

/** Measured figures; an omitted workload is absent. */
export interface Figures {
  start?: StartUp;
  cost?: readonly Operations[];
  W1?: Latency & ProcessorUse;
  W2?: Throughput & ProcessorUse & Footprint;
  /** Processor time is per step. */
  W3?: readonly (Chain & ProcessorUse)[];
  W4?: Latency & ProcessorUse;
  W5?: OneKey;
  /** W1 again, on processes that have run the previous workloads. */
  'W1-warm'?: Latency & ProcessorUse;
  W6?: readonly Resume[];
  recovery?: KillToNextStep;
  'recovery-lost'?: KillToNextStep;
  'recovery-crowd'?: CrowdedDeath;
  'large-map'?: LargeMap;
  'cold-start'?: readonly ColdStart[];
  discovery?: Discovery;
  reload?: Reload;
  install?: Installed;
  /** Memory of all processes after all workloads. */
  residentAfterMb?: number | null;
  /** Mean load of the machine over one minute, before and after: figures of a busy machine are not comparable. */
  load: readonly [number, number];
}

interface Footprint {
  /** Memory of all processes right after the workload, in MB; null if the system does not report it. */
  readonly residentMb: number | null;
}

/** Workloads that are measured on separate processes. */
const WITHOUT_CLOUD: ReadonlySet<WorkloadName> = new Set([
  'start',
  'cold-start',
  'discovery',
  'reload',
  'install',
  'recovery-lost',
  'recovery-crowd',
]);
/** Pause before the first run, in which the local cloud warms up; the same as in Restate's benchmark. */
const REST_MS = 3_000;
const W2 = { runs: 500, atOnce: 50 };
const W3 = [
  { steps: 100, n: 5 },
  { steps: 1_000, n: 3 },
  { steps: 5_000, n: 1 },
];
const W4_RUNS = 10;
const W5 = { starts: 200, n: 3 };
/** Steps of a graph, then operations of one flow. */
const W6 = [
  { type: 'fatal-100', steps: 100 },
  { type: 'fatal-1000', steps: 1_000 },
  { type: 'fatal-5000', steps: 5_000 },
  { type: 'fatal-flow-6400', steps: 6_400 },
];
const W6_KILLS = 3;
const KILLS = 20;
/** Few, because each waits for a lease. */
const LOST_KILLS = 5;

/** Runs everything except the start-up on one local cloud, in the order of the names. */
export async function runSuite(options: SuiteOptions): Promise<Figures> {
  const { only, data, workers, runs, report } = options;
  const load = () => rounded(loadavg()[0] ?? 0, 2);
  const before = load();
  const figures: Figures = { load: [before, before] };
  const measure = async <K extends WorkloadName>(name: K, work: () => Promise<NonNullable<Figures[K]>>) => {
    if (!only.has(name)) return;
    const found = await work();
    figures[name] = found;
    report(name, found);
  };
  await measure('start', () => startUp({ data, workers }));
  await measure('cold-start', async () => coldStarts());
  await measure('discovery', async () => discovery());
  await measure('reload', () => reload());
  await measure('install', async () => installation());
  await measure('recovery-lost', async () => {
    await using cloud = await startMeasuredCloud({
      data,
      workers,
      tickSeconds: 60,
      heartbeatMs: PRODUCTION_SETTINGS.heartbeatMs,
    });
    return await killToNextStep(cloud, { kills: LOST_KILLS, isTaskLost: true });
  });
  await measure('recovery-crowd', async () => {
    await using cloud = await startMeasuredCloud({ data, workers: 1 });
    return await crowdedDeath(cloud);
  });
  if ([...only].some((name) => !WITHOUT_CLOUD.has(name))) {
    await using cloud = await startMeasuredCloud({ data, workers });
    await delay(REST_MS);
    await measure('W1', () => withProcessorUse(cloud, () => oneAtATime(cloud, runs), latencyRuns));
    await measure('cost', () =>
      inTurn(['seq-10', 'fan-100', 'seq-100'], (type) => operationsOf(cloud, type)),
    );
    await measure('W2', async () => {
      const work = () => manyAtOnce(cloud, W2);
      const found = await withProcessorUse(cloud, work, () => W2.runs);
      return { ...found, residentMb: await cloud.residentMb() };
    });
    await measure('W3', () => chains(cloud));
    await measure('W4', () => withProcessorUse(cloud, () => fanOut(cloud, W4_RUNS), latencyRuns));
    await measure('W5', () => oneKey(cloud, W5));
    await measure('W1-warm', () => withProcessorUse(cloud, () => oneAtATime(cloud, runs), latencyRuns));
    await measure('W6', () => inTurn(W6, (run) => resumed(cloud, { ...run, n: W6_KILLS })));
    await measure('recovery', () => killToNextStep(cloud, { kills: KILLS, isTaskLost: false }));
    await measure('large-map', () => largeMap(cloud));
    figures.residentAfterMb = await cloud.residentMb();
  }
  return { ...figures, load: [before, load()] };
}

/** Shorter chains first. */
async function chains(cloud: MeasuredCloud): Promise<(Chain & ProcessorUse)[]> {
  const found: (Chain & ProcessorUse)[] = [];
  for (const { steps, n } of W3) {
    const work = () => chain(cloud, { steps, n });
    found.push(await withProcessorUse(cloud, work, () => n * steps));
  }
  return found;
}

function latencyRuns({ n, warmUp }: Latency): number {
  return n + warmUp;
}

async function inTurn<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (const item of items) results.push(await work(item));
  return results;
}
