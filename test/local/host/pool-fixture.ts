/** A pool of workers that serve nothing. */
import { join } from 'node:path';
import type { FunctionSpec } from '../../../packages/local/src/host/function-spec.ts';
import { WorkerPool } from '../../../packages/local/src/host/workers/worker-pool.ts';

/** A function that serves one task at a time. */
export const SPEC: FunctionSpec = {
  name: 'one',
  region: 'r',
  trigger: { kind: 'task-queue', retry: {}, rates: {} } as FunctionSpec['trigger'],
  timeoutSeconds: 60,
  concurrency: 1,
  secrets: [],
};
export const MANY: FunctionSpec = { ...SPEC, name: 'many', concurrency: 80 };
/** A function that may share task workers, and one that may not. */
export const API: FunctionSpec = { ...MANY, name: 'api', trigger: { kind: 'https' }, takesWhole: true };
export const PLAIN: FunctionSpec = { ...MANY, name: 'plain', trigger: { kind: 'https' } };

interface PoolOptions {
  readonly keepsSpare: boolean;
  /** Messages that workers send besides their own. */
  readonly says?: readonly unknown[];
  /** Workers answer no probe while this file exists. */
  readonly blocked?: string;
}

export interface PoolFixture {
  readonly pool: WorkerPool;
  readonly log: readonly string[];
  /** Environment of workers that start later. */
  readonly env: Record<string, string>;
}

/** Starts nothing yet: call `pool.start()`. */
export function makePool({ keepsSpare, says = [], blocked = '' }: PoolOptions): PoolFixture {
  const log: string[] = [];
  const env: Record<string, string> = { SAYS: JSON.stringify(says), BLOCKED: blocked };
  const pool = new WorkerPool({
    keepsSpare,
    module: '',
    workerMain: join(import.meta.dirname, 'fixtures/empty-worker.ts'),
    workers: 1,
    roles: true,
    watchdogMs: 60_000,
    region: 'r',
    output: 2,
    env,
    clockOffsetMs: () => 0,
    log: (line) => log.push(line),
    onLoaded: () => ({}),
  });
  return { pool, log, env };
}
