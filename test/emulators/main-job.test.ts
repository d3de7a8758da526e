import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { PubSub } from '@google-cloud/pubsub';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type CloudProcess, getJson, startCloudProcess } from '../../packages/local/src/cloud-process.ts';
import { sign } from '../api/installation.ts';
import { withFirebaseTools } from './with-firebase-tools.ts';

const START_MS = 180_000;
const TEST_MS = 120_000;

// Looking for a metadata server leaves the machine.
process.env.METADATA_SERVER_DETECTION ??= 'none';

/** The process and all that it started, in turn. Empty where the system does not tell. */
function tree(pid: number): number[] {
  const { stdout } = spawnSync('ps', ['-e', '-o', 'pid=,ppid='], { encoding: 'utf8' });
  const pairs = stdout.split('\n').map((line) => line.trim().split(/\s+/).map(Number));
  const below = (parent: number): number[] => [
    parent,
    ...pairs.filter(([, by]) => by === parent).flatMap(([child = 0]) => below(child)),
  ];
  return below(pid);
}

/** Processes still running; zombies do not count. */
function running(pids: readonly number[]): number[] {
  const { stdout } = spawnSync('ps', ['-e', '-o', 'pid=,stat='], { encoding: 'utf8' });
  const lines = stdout.split('\n').map((line) => line.trim().split(/\s+/));
  const alive = new Set(lines.flatMap(([pid, stat]) => (stat?.startsWith('Z') ? [] : [Number(pid)])));
  return pids.filter((pid) => alive.has(pid));
}

/** firebase-tools runs the functions here, not the local cloud's own workers. */
withFirebaseTools({ title: 'the main job under firebase-tools', command: 'test:emulators' }, () => {
  /** The folder in which the functions' folder is assembled; the test checks that nothing is left in it. */
  let temporary = '';
  let cloud: CloudProcess | undefined;
  let log = '';
  const ready = () => {
    if (!cloud) throw new Error('the cloud did not start');
    return cloud.ready;
  };

  beforeAll(async () => {
    temporary = mkdtempSync(join(tmpdir(), 'cairn-emulators-test-'));
    cloud = await startCloudProcess({ data: 'memory', emulators: true, env: { TMPDIR: temporary } });
    cloud.process.stderr?.on('data', (chunk) => {
      log += chunk;
    });
  }, START_MS);
  afterAll(async () => {
    cloud?.process.kill('SIGKILL');
    await cloud?.ended;
    rmSync(temporary, { recursive: true, force: true });
  }, START_MS);

  async function eventually<T>(what: string, look: () => Promise<T | undefined> | T | undefined) {
    for (let looks = 0; looks < TEST_MS / 100; looks += 1) {
      const found = await look();
      if (found !== undefined) return found;
      await delay(100);
    }
    throw new Error(`waited in vain for ${what}\n${log}`);
  }

  test(
    'a signed delivery becomes one completed review, and a repeated one finds it',
    async () => {
      const { gateway, github, secrets } = ready();
      const events = createRequire(import.meta.url)('@octokit/webhooks-examples') as {
        name: string;
        examples: { action: string }[];
      }[];
      const payload = events
        .find(({ name }) => name === 'pull_request')
        ?.examples.find(({ action }) => action === 'opened');
      const body = JSON.stringify(payload);
      const deliver = async (signature: string) => {
        const headers = {
          'content-type': 'application/json',
          'x-github-event': 'pull_request',
          'x-github-delivery': '72d3162e-cc78-11e3-81ab-4c9367dc0958',
          'x-hub-signature-256': signature,
        };
        const answer = await fetch(`${gateway}/webhooks/github`, { method: 'POST', headers, body });
        return { status: answer.status, body: (await answer.json()) as { runId: string } };
      };
      const signature = sign(body, secrets.github);
      const first = await deliver(signature);
      const { runId } = first.body;
      expect(first.status).toBe(202);
      const run = await eventually('the end of the run', async () => {
        const found = await getJson<{ status: string; result: unknown }>(ready(), `/v1/runs/${runId}`);
        return found.status === 'completed' ? found : undefined;
      });
      expect(run).toMatchObject({
        environment: 'local',
        result: {
          review: { headline: expect.stringContaining('#2') },
          comment: { url: expect.any(String) },
        },
      });
      expect(await deliver(signature)).toEqual({ status: 200, body: { duplicate: true, runId } });
      expect((await deliver(sign(`${body} `, secrets.github))).status).toBe(401);
      expect(github).toMatch(/^http:\/\/127\.0\.0\.1:/);
    },
    TEST_MS,
  );

  test(
    'each kind of trigger reaches its function: the queue, the schedules and messages',
    async () => {
      const { pubsub, projectId } = ready();
      const client = new PubSub({ projectId, apiEndpoint: pubsub, emulatorMode: true });
      await client.topic('cloud-builds').publishMessage({ json: { id: 'b-1' } });
      await client.close();
      const reached = (name: string) => log.includes(`Finished "us-central1-${name}"`);
      await eventually('every function to be called', () =>
        ['drive', 'recoverRuns', 'fireSchedules', 'pubsub-cloudBuilds'].every(reached) ? true : undefined,
      );
    },
    TEST_MS,
  );

  test(
    'everything ends when it is asked to, and leaves nothing behind',
    async () => {
      const [worker = 0] = ready().pids.workers;
      const left = tree(worker);
      expect(left.length).toBeGreaterThan(4);
      const folders = () => readdirSync(temporary).filter((name) => name.startsWith('cairn-'));
      expect(folders()).toHaveLength(1);
      cloud?.process.kill('SIGTERM');
      await cloud?.ended;
      expect(cloud?.process.exitCode).toBe(0);
      expect(folders()).toEqual([]);
      await eventually('the last process to end', () => (running(left).length === 0 ? true : undefined));
    },
    TEST_MS,
  );
});
