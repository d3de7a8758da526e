import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CloudTasksClient } from '@google-cloud/tasks';
import { credentials } from '@grpc/grpc-js';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { type CloudProcess, startCloudProcess } from '../../packages/local/src/cloud-process.ts';
import { steadyPort } from '../../scripts/demo/steady-port.ts';
import { builtFunctions } from '../../scripts/test-functions/built.ts';
import { servesAgents } from '../mcp/stdio.suite.ts';
import { eventually } from '../system/support.ts';

const MAIN = join(import.meta.dirname, '../../packages/cli/src/main.ts');
const functionsModule = builtFunctions(join(import.meta.dirname, '../system/fixtures/functions.ts'));

// Keeps the client of the queue from looking for Google's metadata server on the network.
process.env.METADATA_SERVER_DETECTION = 'none';

let folder: string;
let cloud: CloudProcess;
/** Constant over restarts. */
let port: number;

const startCloud = () =>
  startCloudProcess({ data: join(folder, 'data'), functionsModule, keepsSpare: false, port });

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'cairn-cli-'));
  port = await steadyPort();
  cloud = await startCloud();
});
beforeEach(async () => {
  const { exitCode, signalCode } = cloud.process;
  if (exitCode !== null || signalCode !== null) cloud = await startCloud();
});
afterAll(async () => {
  await stopCloud();
  rmSync(folder, { recursive: true, force: true });
});

/** The next test starts the cloud again. */
async function stopCloud(): Promise<void> {
  cloud.process.kill('SIGTERM');
  await cloud.ended;
}

interface Speaking {
  readonly child: ChildProcess;
  out(): string;
  err(): string;
  readonly ended: Promise<number | null>;
}

/** The command line in `folder`, without environment variables. */
function say(...words: readonly string[]): Speaking {
  const { CAIRN_URL: _, CAIRN_API_KEY: __, NO_COLOR: ___, ...env } = process.env;
  const child = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', MAIN, ...words, '--local', 'data'],
    {
      cwd: folder,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  const said = { out: '', err: '' };
  child.stdout?.on('data', (text) => {
    said.out += text;
  });
  child.stderr?.on('data', (text) => {
    said.err += text;
  });
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  return { child, out: () => said.out, err: () => said.err, ended };
}

/** Problems that doctor reports, without the clock, which a test may have moved. */
function problemsIn(out: string): string[] {
  return (out.match(/✗ .*/g) ?? []).filter((line) => !line.endsWith('CLOCK_SKEW'));
}

async function said(...words: readonly string[]) {
  const speaking = say(...words);
  return { code: await speaking.ended, out: speaking.out(), err: speaking.err() };
}

test('the command line finds the cloud of a directory, and only the owner can read its key', async () => {
  expect(statSync(join(folder, 'data/address.json')).mode & 0o777).toBe(0o600);
  const { out } = await said('doctor');
  expect(out).toContain(`✓ ${cloud.ready.gateway} answers`);
  expect(problemsIn(out)).toEqual([]);
});

servesAgents(() => folder);

test('a watched run shows the death of its worker and its resumption, and the watch survives a restart of the cloud', async () => {
  const release = join(folder, 'release');
  const input = JSON.stringify({ ms: 0, until: release, notes: join(folder, 'notes') });
  const started = await said('runs', 'start', 'slow', '--input', input);
  const id = started.out.trim();
  expect(started).toMatchObject({ code: 0, out: expect.stringMatching(/^run_\w{26}\n$/) });

  const watching = say('runs', 'watch', id);
  await eventually('the first step to begin', () => existsSync(join(folder, 'notes')) || undefined);
  await eventually(
    'the watch to show the claim',
    () => watching.out().includes('dispatch 1 claimed the run') || undefined,
  );
  cloud.process.kill('SIGKILL');
  await cloud.ended;
  await eventually('the watch to notice', () => watching.err().includes('(connection lost: ') || undefined);
  writeFileSync(release, '');
  cloud = await startCloud();

  expect(await watching.ended).toBe(0);
  expect(watching.out()).toMatch(
    /☠ the worker of dispatch 1 died {2}its task was redelivered[\s\S]*▶ resumed[\s\S]*✓ first[\s\S]*✓ completed/,
  );
  const seqs = watching
    .out()
    .trimEnd()
    .split('\n')
    .map((line) => Number(line.trim().split(' ')[0]));
  expect(seqs).toEqual(Array.from(seqs, (_, at) => at + 1));

  const shown = await said('runs', 'show', 'last');
  expect(shown.out).toMatch(new RegExp(`slow v1 completed in .*${id}`));
  expect(shown.out).toMatch(/resumed +(?:once|\d times)/);
  expect(await said('check', 'last')).toMatchObject({ code: 0, out: expect.stringMatching(/^consistent /) });
});

test('doctor reports a paused queue through the installation, and no other problem', async () => {
  // An installation reads the state of its queues only from time to time.
  await stopCloud();
  cloud = await startCloud();
  const { tasks, projectId } = cloud.ready;
  const [apiEndpoint = '', port] = tasks.split(':');
  const sslCreds = credentials.createInsecure();
  const client = new CloudTasksClient({ apiEndpoint, port: Number(port), sslCreds, projectId });
  const name = client.queuePath(projectId, 'us-central1', 'drive');
  await client.pauseQueue({ name });
  const { code, out } = await said('doctor');
  await client.resumeQueue({ name });
  await client.close();
  await stopCloud();
  expect(code).toBe(7);
  expect(problemsIn(out)).toEqual([
    expect.stringMatching(/^✗ the queue drive is paused with \d+ tasks? in it {2}QUEUE_STOPPED$/),
  ]);
  expect(out).toMatch(/✓ the scheduled functions run; last scan \d+ \w+ ago/);
  expect(out).toMatch(/✓ all \d+ required indexes exist/);
  expect(out).toMatch(/✓ secrets with a value: .*GITHUB_WEBHOOK_SECRET/);
});

test('a stopped cloud removes its address file', async () => {
  await stopCloud();
  expect(existsSync(join(folder, 'data/address.json'))).toBe(false);
  expect(await said('runs', 'list')).toMatchObject({
    code: 2,
    err: expect.stringContaining('no local cloud is running on'),
  });
});
