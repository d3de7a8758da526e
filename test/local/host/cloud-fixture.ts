/** A local cloud in this process over the fixture functions, with helpers for tests. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CloudTasksClient } from '@google-cloud/tasks';
import { credentials } from '@grpc/grpc-js';
import {
  type LocalCloud,
  type LocalCloudOptions,
  startLocalCloud,
} from '../../../packages/local/src/cloud.ts';

// Otherwise the client searches for Google's metadata server on the network.
process.env.METADATA_SERVER_DETECTION = 'none';

const FIXTURES = fileURLToPath(new URL('./fixtures', import.meta.url));
export const FUNCTIONS = join(FIXTURES, 'functions.ts');

export interface TraceLine {
  readonly event: string;
  readonly pid: number;
  readonly [detail: string]: unknown;
}

export interface CloudFixture {
  readonly cloud: LocalCloud;
  readonly log: string[];
  readonly folder: string;
  /** Notes of the functions so far. */
  trace(event?: string): TraceLine[];
  stop(): Promise<void>;
}

export async function startFixture(options: Partial<LocalCloudOptions> = {}): Promise<CloudFixture> {
  const folder = mkdtempSync(join(tmpdir(), 'cairn-host-'));
  const traceFile = join(folder, 'trace');
  const log: string[] = [];
  const cloud = await startLocalCloud({
    data: 'memory',
    functionsModule: FUNCTIONS,
    firebaseJson: join(FIXTURES, 'firebase.json'),
    log: (line) => log.push(line),
    ...options,
    env: { FIXTURE_TRACE: traceFile, ...options.env },
  });
  return {
    cloud,
    log,
    folder,
    trace: (event) => readTrace(traceFile).filter((line) => event === undefined || line.event === event),
    async stop() {
      await cloud.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export function readTrace(file: string): TraceLine[] {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    return [];
  }
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as TraceLine);
}

export function tasksClient(host: string): CloudTasksClient {
  const [apiEndpoint = '', port = ''] = host.split(':');
  const sslCreds = credentials.createInsecure();
  return new CloudTasksClient({ apiEndpoint, port: Number(port), sslCreds, projectId: 'demo-cairn' });
}

/** A task for a function of the fixture, as a queue adapter would make it. */
export function workTask(functionsUrl: string, data: object, name = 'work'): object {
  return {
    httpRequest: {
      url: `${functionsUrl}/${name}`,
      headers: { 'Content-Type': 'application/json' },
      body: Buffer.from(JSON.stringify({ data })),
      oidcToken: { serviceAccountEmail: 'drive@demo-cairn.iam.gserviceaccount.com' },
    },
  };
}

export const WORK_QUEUE = 'projects/demo-cairn/locations/us-central1/queues/work';

/** Enqueues one task for each value in the queue of the function. */
export async function enqueue(
  { tasks, functionsUrl }: { readonly tasks: string; readonly functionsUrl: string },
  name: string,
  ...data: object[]
): Promise<void> {
  const client = tasksClient(tasks);
  const parent = WORK_QUEUE.replace(/work$/, name);
  for (const one of data) {
    await client.createTask({ parent, task: workTask(functionsUrl, one, name) });
  }
  await client.close();
}

/** Enqueues one task for each value in the queue of the fixture's `work` function. */
export function enqueueWork(cloud: LocalCloud, ...data: object[]): Promise<void> {
  return enqueue(cloud, 'work', ...data);
}
