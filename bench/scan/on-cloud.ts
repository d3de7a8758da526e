/**
 * Measures the deployed scan on a local cloud: runs are started through the API while the queues are paused, their tasks are
 * purged, and the scheduled function finds them. It runs every minute, as in production.
 */
import { randomUUID } from 'node:crypto';
import { loadavg } from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';
import { Firestore, type Query } from '@google-cloud/firestore';
import { control } from '../../packages/local/src/cloud-process.ts';
import { type MeasuredCloud, startMeasuredCloud } from '../cloud/measured-cloud.ts';
import { openQueues } from '../cloud/queues.ts';
import type { ProcessorTime } from '../processes.ts';
import { rounded } from '../statistics.ts';
import { OVERDUE_MS } from './overdue.ts';
import { FIRST, MANY, OTHER, type ScannedType } from './workflows.ts';

const STARTS_AT_ONCE = 32;
const LOOK_MS = 1_000;
const PATIENCE_MS = 600_000;
const TICK_S = 60;
/** Tenant of the local cloud's key. */
const TENANT = 'local';

interface LostOnCloud {
  /** From the tick at which the runs are due until all have ended. */
  readonly ms: number;
  /** Processor time of the local cloud during this time. */
  readonly cpuMs: ProcessorTime;
  /** Mean load of the machine over one minute, at the end. */
  readonly load: number;
}

/** Runs without tasks that can all continue. */
export async function lostOnCloud(runs: number): Promise<LostOnCloud> {
  await using scanned = await startScannedCloud();
  const lost = await scanned.lose({ [MANY]: runs });
  await scanned.ended(MANY, runs);
  const ms = Math.round(performance.now() - lost.dueAt);
  const { cloud, workers } = await scanned.processor();
  const since = (now: number | null, before: number | null) =>
    now === null || before === null ? null : now - before;
  return {
    ms,
    cpuMs: { cloud: since(cloud, lost.processor.cloud), workers: since(workers, lost.processor.workers) },
    load: rounded(loadavg()[0] ?? 0),
  };
}

/** Runs without tasks of a paused workflow, and after them one run of another workflow: measured until that run has ended. */
export async function pausedOnCloud(runs: number): Promise<{ readonly otherMs: number }> {
  await using scanned = await startScannedCloud();
  await scanned.pause(MANY);
  const { dueAt } = await scanned.lose({ [MANY]: runs, [OTHER]: 1 });
  await scanned.ended(OTHER, 1);
  return { otherMs: Math.round(performance.now() - dueAt) };
}

interface Lost {
  readonly dueAt: number;
  /** Processor time of the local cloud until then. */
  readonly processor: ProcessorTime;
}

interface ScannedCloud {
  pause(type: ScannedType): Promise<void>;
  /** Starts runs, loses their tasks and moves the clock until all of them are due. */
  lose(runs: Partial<Record<ScannedType, number>>): Promise<Lost>;
  processor(): Promise<ProcessorTime>;
  /** Waits until this many runs of the type have completed. */
  ended(type: ScannedType, runs: number): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

async function startScannedCloud(): Promise<ScannedCloud> {
  const cloud = await startMeasuredCloud({
    data: 'sqlite',
    workers: 1,
    functionsModule: `${import.meta.dirname}/functions.ts`,
    tickSeconds: TICK_S,
  });
  const { ready } = cloud;
  const queues = openQueues(ready);
  const [host = '', port] = ready.firestore.split(':');
  // Keeps the client from looking for credentials on the network.
  process.env.METADATA_SERVER_DETECTION = 'none';
  const db = new Firestore({ projectId: ready.projectId, host: `${host}:${port}`, ssl: false });
  const count = async (type: ScannedType, status: string) => {
    const filter = { tenantId: TENANT, status, type, planVersion: 1 };
    let those: Query = db.collection('gwi_runs');
    for (const [field, value] of Object.entries(filter)) those = those.where(field, '==', value);
    return (await those.count().get()).data().count;
  };
  const scanned: ScannedCloud = {
    async pause(type) {
      const url = `${ready.gateway}/v1/workflows/${type}/pause`;
      const headers = { authorization: `Bearer ${ready.apiKey}`, 'content-type': 'application/json' };
      const answer = await fetch(url, { method: 'POST', headers, body: '{}' });
      if (!answer.ok) throw new Error(`pause of ${type}: ${answer.status} ${await answer.text()}`);
    },
    async lose(runs) {
      await queues.pause();
      for (const [type, n] of Object.entries(runs)) await startMany(cloud, type, n);
      await queues.purge();
      for (const [type, n] of Object.entries(runs)) {
        const pending = await count(type as ScannedType, 'pending');
        if (pending !== n) throw new Error(`${pending} of ${n} runs of ${type} are pending`);
      }
      await queues.resume();
      const processor = await cloud.processor();
      const dueAt = performance.now();
      await control(ready, 'POST', '/clock/advance', { ms: OVERDUE_MS });
      return { dueAt, processor };
    },
    processor: () => cloud.processor(),
    async ended(type, runs) {
      const until = performance.now() + PATIENCE_MS;
      while (performance.now() < until) {
        if ((await count(type, 'completed')) === runs) return;
        await wait(LOOK_MS);
      }
      throw new Error(
        `${await count(type, 'completed')} of ${runs} runs of ${type} ended in ${PATIENCE_MS / 1_000} s`,
      );
    },
    async [Symbol.asyncDispose]() {
      await db.terminate();
      await queues[Symbol.asyncDispose]();
      await cloud[Symbol.asyncDispose]();
    },
  };
  // The functions create further queues with their first task, and those would not be paused.
  await startMany(cloud, FIRST, 1);
  await scanned.ended(FIRST, 1);
  return scanned;
}

async function startMany({ client }: MeasuredCloud, type: string, runs: number): Promise<void> {
  let left = runs;
  const starter = async () => {
    for (; left > 0; ) {
      left -= 1;
      await client.start(type, { key: randomUUID() });
    }
  };
  await Promise.all(Array.from({ length: Math.min(runs, STARTS_AT_ONCE) }, starter));
}
