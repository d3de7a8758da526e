/** Bodies that block their process, and moves of the clock during bodies, with real processes. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { control, getJson, type Ready } from '../../../packages/local/src/cloud-process.ts';
import { inspectJournal } from '../../../scripts/demo/journal.ts';
import { linesIn } from '../../../scripts/demo/notes.ts';
import { ended, eventually, type RunView, startRun, startTestCloud, type TestCloud } from '../support.ts';
import { leaseWaits } from './lease-wait.suite.ts';

let cloud: TestCloud;

/** Starts one cloud for all tests of a group. */
function serve(watchdogSeconds: number): void {
  beforeAll(async () => {
    cloud = await startTestCloud('memory', { watchdogSeconds, keepsSpare: true, isDisturbed: true });
  });
  afterAll(() => cloud.stop());
}

/** Records of bodies: `begin` and `end`, each with its process. */
const notes = (name: string) => linesIn(join(cloud.folder, name));

async function start(type: string, input: object): Promise<string> {
  const answer = await startRun(cloud.ready, type, input);
  return ((await answer.json()) as { runId: string }).runId;
}

const begun = (name: string) => eventually('the body to begin', () => notes(name)[0]);

async function pids(): Promise<readonly number[]> {
  const { roles } = await control<Ready['pids']>(cloud.ready, 'GET', '/pids');
  return Object.values(roles).flat();
}

/** Longer than any body of these tests blocks. */
const PATIENT_S = 600;
/** Longer than a worker is silent on a busy machine while it loads the libraries of its first request. */
const WATCHDOG_S = 15;
/** Longer than a lease. */
const LEASE_OVER_MS = 95_000;

describe('on a cloud that waits for its workers', () => {
  serve(PATIENT_S);

  // Must be the first suite, because it counts dispatches.
  leaseWaits(() => cloud);

  test('a body that blocks its process for a while runs once, and meanwhile the API starts and shows runs', async () => {
    const until = join(cloud.folder, 'shown');
    const input = { until, notes: join(cloud.folder, 'busy') };
    const busy = await start('blocking', input);
    await begun('busy');
    const neighbour = await start('measure', { text: 'abc' });
    expect(await getJson<RunView>(cloud.ready, `/v1/runs/${neighbour}`)).toMatchObject({ id: neighbour });
    expect(notes('busy')).toHaveLength(1);
    writeFileSync(until, '');

    expect(await ended(cloud.ready, busy)).toMatchObject({ status: 'completed', resumeCount: 0 });
    expect(await ended(cloud.ready, neighbour)).toMatchObject({ status: 'completed' });
    expect(notes('busy').map((line) => line.split(' ')[0])).toEqual(['begin', 'end']);
  });

  test('moving the clock does not interrupt a run whose step must not be repeated', async () => {
    const release = join(cloud.folder, 'release');
    const runId = await start('once', { until: release, notes: join(cloud.folder, 'held') });
    await begun('held');
    for (const ms of [3_600_000, 24 * 3_600_000])
      await control(cloud.ready, 'POST', '/clock/advance', { ms });
    // Once a run that was started after the moves has ended, all work that they made due is done.
    const later = await start('measure', { text: 'abc' });
    expect(await ended(cloud.ready, later)).toMatchObject({ status: 'completed' });
    writeFileSync(release, '');
    expect(await ended(cloud.ready, runId)).toMatchObject({ status: 'completed', resumeCount: 0 });
    expect(notes('held')).toHaveLength(1);
    expect((await inspectJournal(cloud.ready, runId)).intact).toBe(true);
  });
});

describe('a body that blocks its process', () => {
  serve(WATCHDOG_S);

  test('for ever is killed by the watchdog, its run fails, and other runs complete', async () => {
    const blocking = await start('blocking', { notes: join(cloud.folder, 'blocking') });
    const [, worker] = (await begun('blocking')).split(' ');
    const neighbours = await Promise.all(['a', 'ab', 'abc'].map((text) => start('measure', { text })));
    for (const id of neighbours) expect(await ended(cloud.ready, id)).toMatchObject({ status: 'completed' });
    await eventually('the watchdog to kill', async () =>
      (await pids()).includes(Number(worker)) ? undefined : true,
    );
    // Its step must not be repeated, so no dispatch takes the run over before the lease expires.
    await control(cloud.ready, 'POST', '/clock/advance', { ms: LEASE_OVER_MS });
    expect(await ended(cloud.ready, blocking)).toMatchObject({ status: 'failed' });
    expect(notes('blocking')).toHaveLength(1);
  });

  test('for ever, in a step that may be repeated, makes its run a suspect, which is dispatched alone next', async () => {
    const runId = await start('stuck-once', { notes: join(cloud.folder, 'stuck') });
    expect(await ended(cloud.ready, runId)).toMatchObject({ status: 'completed', resumeCount: 1 });
    const { events, intact } = await inspectJournal(cloud.ready, runId);
    expect(intact).toBe(true);
    expect(events.map(({ type }) => type)).toContain('orphan_detected');
    const claims = events.filter(({ type }) => type === 'run_claimed').map(({ data }) => data);
    expect(claims).toEqual([
      expect.not.objectContaining({ alone: true }),
      expect.objectContaining({ alone: true }),
    ]);
    expect(new Set(notes('stuck')).size).toBe(2);
  });
});
