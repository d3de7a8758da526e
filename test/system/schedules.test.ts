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
import { builtFunctions } from '../../scripts/test-functions/built.ts';
import { eventually, send, tryGet } from './support.ts';

const functionsModule = builtFunctions(join(import.meta.dirname, 'fixtures/functions.ts'));
let folder: string;
let cloud: CloudProcess | undefined;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'cairn-schedules-'));
});
afterAll(async () => {
  await stop('SIGTERM');
  rmSync(folder, { recursive: true, force: true });
});

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

async function start(): Promise<Ready> {
  cloud = await startCloudProcess({
    data: join(folder, 'data'),
    functionsModule,
    workers: 2,
    keepsSpare: false,
  });
  return cloud.ready;
}

async function stop(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
  cloud?.process.kill(signal);
  await cloud?.ended;
  cloud = undefined;
}

/** The first look at a cloud that has just started may take longer than a look does. */
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

test('a schedule fires each slot once, also if the cloud is killed and started again', async () => {
  const first = await start();
  const body = { type: 'chain-10', cron: '0 * * * *', timezone: 'Europe/Berlin', catchUp: 'all' };
  const made = await send(first, { path: '/v1/schedules', body });
  expect(made.status).toBe(201);
  const { id } = (await made.json()) as ScheduleView;
  await passSlot(first, id);
  await passSlot(first, id);
  await stop('SIGKILL');

  // Its clock begins at the real time again: what was fired lies ahead of it, and is not fired again.
  const second = await start();
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
});
