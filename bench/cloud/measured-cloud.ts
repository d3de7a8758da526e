/** Starts a local cloud to be measured as a separate process with a temporary folder, like a user. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { control, type Ready, startCloudProcess } from '../../packages/local/src/cloud-process.ts';
import type { BenchData } from '../arguments.ts';
import { Client } from '../client.ts';
import { type ProcessorTime, processorMs, residentMb } from '../processes.ts';

export interface MeasuredCloud {
  readonly ready: Ready;
  readonly client: Client;
  /** For marks and notes; deleted with the cloud. */
  readonly folder: string;
  /** From the start of its process to its ready line. */
  readonly startMs: number;
  /** Memory of the cloud's process and its workers together. */
  residentMb(): Promise<number | null>;
  /** Processor time so far, in ms. */
  processor(): Promise<ProcessorTime>;
  [Symbol.asyncDispose](): Promise<void>;
}

interface MeasuredCloudOptions {
  readonly data: BenchData;
  readonly workers: number;
  /** Functions that are served. Default: those of the benchmark. */
  readonly functionsModule?: string;
  /** Interval of scheduled functions. Default: that of the local cloud. */
  readonly tickSeconds?: number;
  /** Longest time between two heartbeats, ms. Default: that of the local cloud. */
  readonly heartbeatMs?: number;
}

export async function startMeasuredCloud(options: MeasuredCloudOptions): Promise<MeasuredCloud> {
  const folder = mkdtempSync(join(tmpdir(), 'cairn-bench-'));
  const marks = join(folder, 'marks');
  mkdirSync(marks);
  const startedAt = performance.now();
  const cloud = await startCloudProcess({
    data: options.data === 'memory' ? 'memory' : join(folder, 'data'),
    sync: options.data === 'sync',
    functionsModule: options.functionsModule ?? join(import.meta.dirname, '../functions.ts'),
    workers: options.workers,
    logFile: join(folder, 'cloud.log'),
    ...(options.tickSeconds !== undefined && { tickSeconds: options.tickSeconds }),
    ...(options.heartbeatMs !== undefined && { env: { CAIRN_HEARTBEAT_MS: String(options.heartbeatMs) } }),
  }).catch((error: unknown) => {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  });
  const startMs = Math.round(performance.now() - startedAt);
  const client = new Client(cloud.ready);
  const pidsNow = () => control<Ready['pids']>(cloud.ready, 'GET', '/pids');
  return {
    ready: cloud.ready,
    client,
    folder: marks,
    startMs,
    async residentMb() {
      const pids = await pidsNow();
      return residentMb([pids.cloud, ...pids.workers]);
    },
    async processor() {
      const pids = await pidsNow();
      return { cloud: processorMs([pids.cloud]), workers: processorMs(pids.workers) };
    },
    async [Symbol.asyncDispose]() {
      client.close();
      cloud.process.kill('SIGTERM');
      await cloud.ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
