/** Starts a local cloud for a test file, as a process on free ports, in memory or on SQLite. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from '@jest/globals';
import { type CloudProcess, type Ready, startCloudProcess } from '../../packages/local/src/cloud-process.ts';
import { waitFor as eventually } from '../../scripts/demo/notes.ts';
import { builtFunctions } from '../../scripts/test-functions/built.ts';

export { eventually };

/** Most tests use SQLite, as users do. Tests of crashes and storms also run in memory. */
export type Storage = 'memory' | 'sqlite';

export interface TestCloud {
  readonly ready: Ready;
  readonly folder: string;
  stop(): Promise<void>;
}

export interface CloudStage {
  readonly cloud: TestCloud;
}

type CloudOptions = NonNullable<Parameters<typeof startTestCloud>[1]>;

/** One cloud for all tests of a file. Call it where the tests are defined; `cloud` is set in `beforeAll`. */
export function setCloud(storage: Storage, options: CloudOptions = {}): CloudStage {
  const stage = {} as { cloud: TestCloud };
  beforeAll(async () => {
    stage.cloud = await startTestCloud(storage, options);
  });
  afterAll(() => stage.cloud?.stop());
  return stage;
}

/**
 * @param functions a module of `fixtures/`
 * @param keepsSpare true for tests in which a worker dies; a spare worker costs as much to load as another one
 * @param leaseMs shorter than usual for tests that wait for the end of a lease
 */
export async function startTestCloud(
  storage: Storage,
  {
    workers = 1,
    keepsSpare = false,
    functions = 'functions',
    watchdogSeconds = 90,
    leaseMs = 90_000,
    tickSeconds = 5,
  } = {},
): Promise<TestCloud> {
  const folder = mkdtempSync(join(tmpdir(), 'cairn-test-'));
  const cloud: CloudProcess = await startCloudProcess({
    data: storage === 'memory' ? 'memory' : join(folder, 'data'),
    functionsModule: builtFunctions(join(import.meta.dirname, `fixtures/${functions}.ts`)),
    workers,
    keepsSpare,
    watchdogSeconds,
    tickSeconds,
    env: { CAIRN_LEASE_MS: String(leaseMs) },
  });
  return {
    ready: cloud.ready,
    folder,
    async stop() {
      cloud.process.kill('SIGTERM');
      await cloud.ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export interface RunView {
  readonly id: string;
  readonly status: string;
  readonly resumeCount: number;
  readonly durationMs?: number;
  readonly error?: { readonly code: string };
}

const GET_LIMIT_MS = 10_000;

/** GET as JSON; undefined unless the status is 200. The worker may have been killed: the next request gets another one. */
export async function tryGet<T>(ready: Ready, path: string): Promise<T | undefined> {
  const headers = { authorization: `Bearer ${ready.apiKey}` };
  try {
    const response = await fetch(ready.gateway + path, {
      headers,
      signal: AbortSignal.timeout(GET_LIMIT_MS),
    });
    return response.status === 200 ? ((await response.json()) as T) : undefined;
  } catch {
    return undefined;
  }
}

export function ended(ready: Ready, runId: string): Promise<RunView> {
  return eventually(`run ${runId} to end`, async () => {
    const run = await tryGet<RunView>(ready, `/v1/runs/${runId}`);
    return run && ['completed', 'failed', 'cancelled'].includes(run.status) ? run : undefined;
  });
}

export async function startRun(ready: Ready, type: string, input: unknown, key?: string): Promise<Response> {
  return fetch(`${ready.gateway}/v1/runs`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${ready.apiKey}`,
      'content-type': 'application/json',
      ...(key === undefined ? {} : { 'idempotency-key': key }),
    },
    body: JSON.stringify({ type, input }),
  });
}
