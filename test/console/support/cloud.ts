/** A local cloud with the console and test workflows, for one test file. */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type CloudProcess,
  type Ready,
  startCloudProcess,
} from '../../../packages/local/src/cloud-process.ts';
import { waitFor as eventually } from '../../../scripts/demo/notes.ts';
import { builtFunctions } from '../../../scripts/test-functions/built.ts';

export interface ConsoleCloud {
  readonly ready: Ready;
  /** Calls the API, with the development key by default. @throws if the call fails */
  call<T>(method: string, path: string, body?: unknown, key?: string): Promise<T>;
  stop(): Promise<void>;
}

export interface CloudOptions {
  /** The module of functions, in `fixtures/`. */
  readonly fixture?: string;
  /** Keeps a spare worker, for tests in which a worker dies. */
  readonly keepsSpare?: boolean;
  readonly env?: Readonly<Record<string, string>>;
}

export async function startConsoleCloud({
  fixture = 'functions.ts',
  keepsSpare = false,
  env = {},
}: CloudOptions = {}): Promise<ConsoleCloud> {
  // Fixtures store here what must survive the death of a worker.
  const folder = mkdtempSync(join(tmpdir(), 'cairn-console-'));
  const cloud: CloudProcess = await startCloudProcess({
    data: 'memory',
    functionsModule: builtFunctions(join(import.meta.dirname, '../fixtures', fixture)),
    workers: 1,
    keepsSpare,
    env: { ...env, TEST_FOLDER: folder },
  });
  const { ready } = cloud;
  return {
    ready,
    async call<T>(method: string, path: string, body?: unknown, key = ready.apiKey) {
      const headers = {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        ...(method === 'GET' ? {} : { 'idempotency-key': randomUUID() }),
      };
      const sent = body === undefined ? {} : { body: JSON.stringify(body) };
      // A busy cloud answers 503, and expects the same request again.
      return eventually(`an answer to ${method} ${path}`, async () => {
        const answer = await fetch(`${ready.gateway}${path}`, { method, headers, ...sent });
        if (answer.status === 503) return undefined;
        if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
        return (await answer.json()) as T;
      });
    },
    async stop() {
      cloud.process.kill('SIGTERM');
      await cloud.ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
