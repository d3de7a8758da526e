/** Crashes and restarts of the whole cloud over one folder. Starts take most of the CPU time of these tests. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import {
  type CloudProcess,
  control,
  getJson,
  type Ready,
  startCloudProcess,
} from '../../packages/local/src/cloud-process.ts';
import { inspectJournal } from '../../scripts/demo/journal.ts';
import { builtFunctions } from '../../scripts/test-functions/built.ts';
import { ended, eventually, send, startRun, tryGet } from './support.ts';

const functionsModule = builtFunctions(join(import.meta.dirname, 'fixtures/functions.ts'));
/** Enough for the start of two clouds on a busy machine. */
const PATIENCE_MS = 480_000;
const CRASHES = [
  { after: 0, what: 'its start' },
  { after: 6, what: 'its fifth step' },
];
const MORE_CRASHES = [
  { after: 1, what: 'its claim' },
  { after: 11, what: 'its last step' },
];
/** Longer than a first request may take to enqueue its run, and shorter than a lease, or than the time after which the scan looks for the run. */
const TASK_LOST_MS = 5_000;

let folder: string;
/** Largest offset of a cloud's clock so far; the clock of the next cloud begins at the real time. */
let aheadMs = 0;
let cloud: CloudProcess | undefined;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'cairn-crash-'));
});
afterAll(async () => {
  cloud?.process.kill('SIGTERM');
  await cloud?.ended;
  rmSync(folder, { recursive: true, force: true });
});

/** The running cloud; starts one over the same folder if there is none. */
async function running(): Promise<CloudProcess> {
  cloud ??= await startCloudProcess({
    data: join(folder, 'data'),
    functionsModule,
    workers: 1,
    keepsSpare: false,
  });
  return cloud;
}

async function died({ ended, process }: CloudProcess): Promise<void> {
  await ended;
  cloud = undefined;
  expect(process.signalCode).toBe('SIGKILL');
}

interface ScheduleView {
  readonly id: string;
  readonly nextAt: string;
  readonly slots: { readonly fired: number; readonly skipped: number };
}

interface Runs {
  readonly items: readonly {
    readonly id: string;
    readonly idempotencyKey: string;
    readonly status: string;
  }[];
}

/** The first read of a cloud that has just started may take longer. */
function scheduleOf(ready: Ready, id: string): Promise<ScheduleView> {
  return eventually('the schedule', () => tryGet<ScheduleView>(ready, `/v1/schedules/${id}`));
}

/** Moves the cloud's clock past the next slot and waits until it was fired. */
async function passSlot(ready: Ready, id: string): Promise<void> {
  const before = await scheduleOf(ready, id);
  const { now } = await control<{ now: string }>(ready, 'GET', '/clock');
  const ms = Math.max(0, Date.parse(before.nextAt) - Date.parse(now) + 1);
  await control(ready, 'POST', '/clock/advance', { ms });
  await eventually('the slot to be fired', async () => {
    const after = await tryGet<ScheduleView>(ready, `/v1/schedules/${id}`);
    return after && after.slots.fired > before.slots.fired ? after : undefined;
  });
}

async function runsOf(ready: Ready, id: string): Promise<Runs['items']> {
  return (await getJson<Runs>(ready, `/v1/runs?threadId=${id}&limit=100`)).items;
}

/** The engine's sweep crashes after every write; `EVERY_CRASH=1` adds two here. */
test.each(process.env.EVERY_CRASH === '1' ? [...CRASHES, ...MORE_CRASHES] : CRASHES)(
  'the whole cloud dies once $what is durable, starts again, and the run completes once',
  async ({ after }) => {
    const first = await running();
    const key = `crash-${after}`;
    // Only documents of runs, because scheduled functions write heartbeats elsewhere.
    const ofRun = { call: 'Commit', path: 'gwi_runs/' };
    const rules = [{ ...ofRun, probability: 1, after, times: 1, fault: { kind: 'crash' } }];
    await control(first.ready, 'PUT', '/faults', { seed: 1, rules });
    // The crash may lose the answer to the start itself.
    await startRun(first.ready, 'chain-10', {}, key).catch(() => undefined);
    await died(first);

    const { ready } = await running();
    aheadMs += TASK_LOST_MS;
    await control(ready, 'POST', '/clock/advance', { ms: aheadMs });
    const again = await startRun(ready, 'chain-10', {}, key);
    // The run exists, because its record is as durable as the run.
    expect(again.status).toBe(200);
    const { runId } = (await again.json()) as { runId: string };
    expect((await ended(ready, runId)).status).toBe('completed');
    const { events, intact } = await inspectJournal(ready, runId);
    expect(intact).toBe(true);
    const finished = events.filter(({ type }) => type === 'step_succeeded');
    expect(finished).toHaveLength(10);
    // The repeated start or task continued the run, not the scan or the end of a lease.
    const takeovers = events.flatMap((event) => (event.type === 'orphan_detected' ? [event.data.why] : []));
    expect(takeovers).toEqual(after === 0 ? [] : ['redelivered']);
  },
  PATIENCE_MS,
);

test(
  'a schedule fires each slot once, also if the cloud is killed and started again',
  async () => {
    const cloud = await running();
    const first = cloud.ready;
    const body = { type: 'chain-10', cron: '0 * * * *', timezone: 'Europe/Berlin', catchUp: 'all' };
    const made = await send(first, { path: '/v1/schedules', body });
    expect(made.status).toBe(201);
    const { id } = (await made.json()) as ScheduleView;
    await passSlot(first, id);
    await passSlot(first, id);
    cloud.process.kill('SIGKILL');
    await died(cloud);

    // Its clock begins at the real time, so fired slots are in its future and are not fired again.
    const { ready: second } = await running();
    const fired = await scheduleOf(second, id);
    expect(fired.slots.fired).toBe(2);
    await passSlot(second, id);

    const runs = await eventually('the runs to end', async () => {
      const found = await runsOf(second, id);
      return found.length >= 3 && found.every(({ status }) => status === 'completed') ? found : undefined;
    });
    const keys = runs.map(({ idempotencyKey }) => idempotencyKey).sort();
    expect(keys).toHaveLength(3);
    const slots = keys.map((key) => Date.parse(key.slice(`scheduler:${id}:`.length)));
    const hours = slots.map((slot) => (slot - (slots[0] ?? 0)) / 3_600_000);
    expect(hours).toEqual([0, 1, 2]);
    expect(await scheduleOf(second, id)).toMatchObject({
      slots: { fired: 3, skipped: 0 },
    });
  },
  PATIENCE_MS,
);
