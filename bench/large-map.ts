/** Measures the memory of the processes that run a map of 1,000 items of 250 KB until it is refused. */
import { setTimeout as delay } from 'node:timers/promises';
import { control, type Ready } from '../packages/local/src/cloud-process.ts';
import type { MeasuredCloud } from './cloud/measured-cloud.ts';
import { residentMb } from './processes.ts';

export interface LargeMap {
  /** Code of the error with which the run ended. */
  readonly code: string;
  readonly ms: number;
  /** Maximum memory of a single process of the cloud, in MB (2^20); null if the system does not report it. */
  readonly peakMb: number | null;
  /** Maximum memory of all processes together. */
  readonly allPeakMb: number | null;
}

/** Promised limit for each process. */
export const LARGE_MAP_MOST_MB = 500;

const LOOK_EVERY_MS = 50;
const LIMIT_MS = 300_000;

export async function largeMap({ client, ready }: MeasuredCloud): Promise<LargeMap> {
  const startedAt = performance.now();
  const runId = await client.start('large-items');
  let peakMb: number | null = 0;
  let allPeakMb: number | null = 0;
  for (;;) {
    const { cloud, workers } = await control<Ready['pids']>(ready, 'GET', '/pids');
    const pids = [cloud, ...workers];
    for (const pid of pids) peakMb = larger(peakMb, residentMb([pid]));
    allPeakMb = larger(allPeakMb, residentMb(pids));
    const run = await client.run(runId);
    const ms = Math.round(performance.now() - startedAt);
    if (run.status === 'completed') throw new Error(`run ${runId} is completed: its output has no room`);
    if (run.status === 'failed') {
      const end = (await client.events(runId)).find(({ type }) => type === 'run_failed');
      const { error } = (end?.data ?? {}) as { error?: { code: string } };
      if (!error) throw new Error(`run ${runId} is failed, and its journal does not say why`);
      return { code: error.code, ms, peakMb, allPeakMb };
    }
    if (ms > LIMIT_MS) throw new Error(`run ${runId} has not ended after ${LIMIT_MS} ms`);
    await delay(LOOK_EVERY_MS);
  }
}

function larger(before: number | null, now: number | null): number | null {
  return before === null || now === null ? null : Math.max(before, now);
}
