/** Baseline costs and billing: start-up time, memory at rest, the first run, Firestore operations. */
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { control } from '../packages/local/src/cloud-process.ts';
import type { BenchData } from './arguments.ts';
import { type MeasuredCloud, startMeasuredCloud } from './cloud/measured-cloud.ts';
import { median } from './statistics.ts';

export interface StartUp {
  readonly n: number;
  /** From the start of the process to its ready line. */
  readonly medianMs: number;
  /** All processes, at rest for {@link REST_MS}. */
  readonly idleMb: number | null;
  /** First run of 10 steps after such a rest, from its start to the response that it has completed; median. */
  readonly firstRunMs: number;
}

const STARTS = 3;
const REST_MS = 3_000;

/** Start and memory with the functions a user starts, not those of the benchmark. */
export async function startUp(options: { data: BenchData; workers: number }): Promise<StartUp> {
  const functionsModule = join(import.meta.dirname, '../functions/src/index.ts');
  const times: number[] = [];
  let idleMb: number | null = null;
  for (let i = 0; i < STARTS; i += 1) {
    await using cloud = await startMeasuredCloud({ ...options, functionsModule });
    times.push(cloud.startMs);
    if (i < STARTS - 1) continue;
    await delay(REST_MS);
    idleMb = await cloud.residentMb();
  }
  const firstRuns: number[] = [];
  for (let i = 0; i < STARTS; i += 1) firstRuns.push(await firstRun(options));
  return { n: STARTS, medianMs: median(times), idleMb, firstRunMs: Math.round(median(firstRuns)) };
}

async function firstRun(options: { data: BenchData; workers: number }): Promise<number> {
  await using cloud = await startMeasuredCloud(options);
  await delay(REST_MS);
  const startedAt = performance.now();
  await cloud.client.completed(await cloud.client.start('seq-10'));
  return performance.now() - startedAt;
}

/** Operations that production would bill for one run, counted by the local Firestore; exact. */
export interface Operations {
  readonly type: string;
  readonly reads: number;
  readonly writes: number;
  readonly deletes: number;
  readonly commits: number;
}

interface Meter extends Omit<Operations, 'type'> {
  readonly bytes: number;
}

interface TaskCounts {
  readonly tasks: { readonly created: number; readonly finished: number };
}

const LOOK_EVERY_MS = 25;
const LIMIT_MS = 60_000;

/** Watches the queue instead of the run, because reading the run is billed too. */
export async function operationsOf({ ready, client }: MeasuredCloud, type: string): Promise<Operations> {
  const runId = await client.start(type);
  const deadline = performance.now() + LIMIT_MS;
  for (;;) {
    const { tasks } = await control<TaskCounts>(ready, 'GET', '/meter/tasks');
    if (tasks.created === tasks.finished) break;
    if (performance.now() > deadline) throw new Error(`run ${runId} has a task left after ${LIMIT_MS} ms`);
    await delay(LOOK_EVERY_MS);
  }
  const { reads, writes, deletes, commits } = await control<Meter>(ready, 'GET', `/meter/runs/${runId}`);
  const run = await client.run(runId);
  if (run.status !== 'completed') throw new Error(`run ${runId} is ${run.status}, not completed`);
  return { type, reads, writes, deletes, commits };
}
