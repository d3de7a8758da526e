/**
 * Measures the time from the death of a worker (SIGKILL, as when it runs out of memory) with 80 active runs until each run begins
 * its step again, and until the run that killed it ends. Uses only the clock of the machine.
 */
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type Beginning, beginningsIn } from '../beginnings.ts';
import { median, percentile } from '../statistics.ts';
import type { MeasuredCloud } from './measured-cloud.ts';

export interface CrowdedDeath {
  /** Other active runs in the worker. */
  readonly neighbours: number;
  /** From the death to the next start of a neighbour's step. */
  readonly medianMs: number;
  readonly p95Ms: number;
  readonly maxMs: number;
  /** Neighbours whose step began more than twice, because they died with the culprit again. */
  readonly hitAgain: number;
  /** From the death to the end of the culprit, and its error code. */
  readonly culpritMs: number;
  readonly culpritEnd: string;
}

/** With the culprit, the concurrency of a deployed instance of `drive`. */
const NEIGHBOURS = 79;
const PATIENCE_MS = 240_000;
const LOOK_MS = 20;

export async function crowdedDeath({ client, folder }: MeasuredCloud): Promise<CrowdedDeath> {
  const name = randomUUID();
  const marks = Array.from({ length: NEIGHBOURS }, (_, i) => join(folder, `${name}-${i}`));
  const culprit = join(folder, `${name}-culprit`);
  const runs = await Promise.all(
    marks.map((mark) => client.start('held', { input: { mark }, key: randomUUID() })),
  );
  const deadly = await client.start('deadly', { input: { mark: culprit }, key: randomUUID() });
  const first = await until(() => begun([culprit, ...marks], 1), 'have not all begun');
  const pids = new Set(first.map(([beginning]) => beginning?.pid));
  if (pids.size !== 1) throw new Error(`the runs are in ${pids.size} workers, and should be in one`);
  writeFileSync(`${culprit}.go`, '');
  const diedAt = Date.now();
  for (const pid of pids) process.kill(pid as number, 'SIGKILL');
  const second = await until(() => begun(marks, 2), 'have not all begun again');
  await until(async () => {
    const views = await Promise.all(runs.map((runId) => client.run(runId)));
    return views.every(({ status }) => status === 'completed') ? true : undefined;
  }, 'have not all been completed');
  const end = await until(async () => {
    const run = await client.run(deadly);
    return run.status === 'failed' ? run : undefined;
  }, 'has not ended the culprit');
  const times = second.map(([, again]) => (again as Beginning).at - diedAt);
  return {
    neighbours: NEIGHBOURS,
    medianMs: Math.round(median(times)),
    p95Ms: Math.round(percentile(times, 0.95)),
    maxMs: Math.max(...times),
    hitAgain: marks.filter((mark) => beginningsIn(mark).length > 2).length,
    culpritMs: Date.parse(end.completedAt ?? '') - diedAt,
    culpritEnd: end.error?.code ?? end.status,
  };
}

/** The starts of all steps, once each has started this often. */
function begun(marks: readonly string[], wanted: number): readonly (readonly Beginning[])[] | undefined {
  const all = marks.map(beginningsIn);
  return all.every(({ length }) => length >= wanted) ? all : undefined;
}

async function until<T>(probe: () => T | undefined | Promise<T | undefined>, what: string): Promise<T> {
  const end = performance.now() + PATIENCE_MS;
  while (performance.now() < end) {
    const found = await probe();
    if (found !== undefined) return found;
    await pause(LOOK_MS);
  }
  throw new Error(`the runs ${what} in ${PATIENCE_MS / 1_000} s`);
}
