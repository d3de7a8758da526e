/** Starts a local cloud for a test file, as a process on free ports, in memory or on SQLite. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from '@jest/globals';
import { type CloudProcess, type Ready, startCloudProcess } from '../../packages/local/src/cloud-process.ts';
import { assertFewRefused } from '../../scripts/demo/refusals.ts';
import { builtFunctions } from '../../scripts/test-functions/built.ts';

export { ended, eventually, type RunView, send, startRun, tryGet } from './requests.ts';

/** Most tests use SQLite, as users do. Tests of crashes and storms also run in memory. */
export type Storage = 'memory' | 'sqlite';

const FIXTURES = join(import.meta.dirname, 'fixtures');
const SHIPPED = join(import.meta.dirname, '../../functions/src/index.ts');

export interface TestCloud {
  readonly ready: Ready;
  readonly folder: string;
  /** @throws Error if it refused too many requests, unless it was disturbed */
  stop(): Promise<void>;
}

export interface CloudStage {
  readonly cloud: TestCloud;
}

/**
 * One cloud for all tests of a file. Call it where the tests are defined; `cloud` is set in `beforeAll`.
 *
 * @param options options, or a function that returns them after a server of the test has an address
 */
export function setCloud(
  storage: Storage,
  options: CloudOptions | (() => Promise<CloudOptions>) = {},
): CloudStage {
  const stage = {} as { cloud: TestCloud };
  beforeAll(async () => {
    stage.cloud = await startTestCloud(storage, typeof options === 'function' ? await options() : options);
  });
  afterAll(() => stage.cloud?.stop());
  return stage;
}

interface CloudOptions {
  readonly workers?: number;
  /** True for tests of the spare. Default: false, because a spare and its successor cost as much as other workers. */
  readonly keepsSpare?: boolean;
  /** A module of `fixtures/`, or `shipped`: the project's own functions. */
  readonly functions?: string;
  readonly watchdogSeconds?: number;
  /** Shorter than usual for tests that wait for the end of a lease. */
  readonly leaseMs?: number;
  /** True for a test that injects faults, or kills or blocks workers: the cloud may refuse any number of requests. */
  readonly isDisturbed?: boolean;
  readonly env?: Readonly<Record<string, string>>;
}

export async function startTestCloud(storage: Storage, options: CloudOptions = {}): Promise<TestCloud> {
  const {
    workers = 1,
    keepsSpare = false,
    functions = 'functions',
    watchdogSeconds = 90,
    leaseMs = 90_000,
    isDisturbed = false,
    env = {},
  } = options;
  const folder = mkdtempSync(join(tmpdir(), 'cairn-test-'));
  const cloud: CloudProcess = await startCloudProcess({
    data: storage === 'memory' ? 'memory' : join(folder, 'data'),
    functionsModule: builtFunctions(functions === 'shipped' ? SHIPPED : join(FIXTURES, `${functions}.ts`)),
    workers,
    keepsSpare,
    watchdogSeconds,
    tickSeconds: 5,
    env: { CAIRN_LEASE_MS: String(leaseMs), ...env },
  });
  return {
    ready: cloud.ready,
    folder,
    async stop() {
      cloud.process.kill('SIGTERM');
      await cloud.ended;
      rmSync(folder, { recursive: true, force: true });
      if (!isDisturbed) assertFewRefused(cloud.ready);
    },
  };
}
