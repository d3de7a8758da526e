/** Runs that back off after a failed dispatch: their pages, and bulk resume. Moves the clock of the cloud. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { openQueues, type Queues } from '../../../bench/cloud/queues.ts';
import { eventually } from '../../system/support.ts';
import { becomes } from '../support/becomes.ts';
import type { Stage } from '../support/stage.ts';

interface Resting {
  readonly id: string;
  readonly status: string;
  readonly dueAt?: string;
  readonly lease?: object;
  readonly failures?: { readonly times: number };
}

/** Time left for holding the queues. The longest back-off is a minute. */
const UNDISTURBED_MS = 25_000;
const WHY = "the policy of workflow 'guarded' could not be evaluated: the service of the rules is down";

export function restingRuns(stage: Stage): void {
  let folder: string;
  let queues: Queues;
  beforeAll(() => {
    // Without it, the queue client looks for Google's metadata server on the network.
    process.env.METADATA_SERVER_DETECTION = 'none';
    folder = mkdtempSync(join(tmpdir(), 'cairn-resting-'));
    queues = openQueues(stage.cloud.ready);
  });
  afterEach(() => queues.resume());
  afterAll(async () => {
    await queues[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  const read = (id: string) => stage.cloud.call<Resting>('GET', `/v1/runs/${id}`);

  async function start(type: string, input: object, threadId: string): Promise<string> {
    return (await stage.cloud.call<{ runId: string }>('POST', '/v1/runs', { type, input, threadId })).runId;
  }

  const control = async (path: string, init?: RequestInit) =>
    (await (await fetch(`${stage.cloud.ready.control}${path}`, init)).json()) as { readonly now: string };

  /** Milliseconds that each run still backs off, or 0. */
  async function restsOf(ids: readonly string[]): Promise<number[]> {
    const runs = await Promise.all(ids.map(read));
    const now = Date.parse((await control('/clock')).now);
    return runs.map(({ failures, lease, dueAt }) =>
      failures && !lease && dueAt !== undefined ? Date.parse(dueAt) - now : 0,
    );
  }

  /** Lets dispatches fail until each run backs off, and holds the queues, so that no dispatch interferes with a slow test. */
  const rest = (ids: readonly string[]) =>
    eventually(`runs ${ids} rest`, async () => {
      const left = await restsOf(ids);
      if (Math.min(...left) > UNDISTURBED_MS) {
        await queues.pause();
        if (Math.min(...(await restsOf(ids))) > 0) return true;
        await queues.resume();
      }
      if (Math.min(...left) <= 0) return undefined;
      await control('/clock/advance', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ ms: Math.max(...left) }),
      });
      return undefined;
    });

  const hasStatus = (id: string, wanted: string) =>
    eventually(`run ${id} is ${wanted}`, async () => (await read(id)).status === wanted || undefined);

  test('a run whose dispatch failed says why and when it is retried, and can be resumed from its page', async () => {
    const until = join(folder, 'one');
    const id = await start('guarded', { until }, 'rests-alone');
    await rest([id]);
    const page = await stage.browser.open(`/runs/${id}`);
    const state = page.locator('.run-state');
    await state.getByText(new RegExp(`The last (?:\\d+ )?dispatch(?:es)? failed: ${WHY}\\.`)).waitFor();
    const { dueAt } = await read(id);
    await state.getByText('· due').locator(`time[datetime="${dueAt}"]`).waitFor();
    await page.getByRole('button', { name: 'Resume', exact: true }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('It was blocked, and continues where it stopped.').waitFor();
    writeFileSync(until, '');
    await dialog.getByRole('button', { name: 'Continue the run' }).click();
    await dialog.waitFor({ state: 'detached' });
    await queues.resume();
    await state.locator('[data-status=completed]').waitFor();
    await page.getByRole('button', { name: 'Resume', exact: true }).waitFor({ state: 'detached' });
  });

  test('all backing-off runs are resumed at once, and no running or completed one', async () => {
    const until = join(folder, 'many');
    const threadId = 'rests-with-others';
    const working = await start('telling', { until: join(folder, 'working') }, threadId);
    const done = await start('chain-10', {}, threadId);
    await hasStatus(done, 'completed');
    await hasStatus(working, 'running');
    const resting = [
      await start('guarded', { until }, threadId),
      await start('guarded', { until }, threadId),
    ];
    await rest(resting);
    const page = await stage.browser.open(`/runs?thread=${threadId}`);
    for (const id of [...resting, working, done]) await page.locator(`#row-${id}`).waitFor();
    await page.getByRole('button', { name: 'Resume all…' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText(/and those backing off after a failed dispatch/).waitFor();
    await dialog.getByText('2 runs will be resumed.').waitFor();
    const targets = dialog.locator('tr[data-run]');
    await becomes(
      async () => (await targets.evaluateAll((all) => all.map((one) => one.dataset.run))).toSorted(),
      resting.toSorted(),
    );
    for (const id of resting)
      await dialog.locator(`tr[data-run=${id}]`).getByText('is dispatched again').waitFor();
    writeFileSync(until, '');
    await dialog.getByRole('button', { name: 'Resume 2 runs' }).click();
    await dialog.getByText('Done for 2 of 2 runs.').waitFor();
    await queues.resume();
    for (const id of resting) await dialog.locator(`tr[data-run=${id}]`, { hasText: 'resumed' }).waitFor();
    await dialog.getByRole('button', { name: 'Close', exact: true }).last().click();
    for (const id of resting) await page.locator(`#row-${id} [data-status=completed]`).waitFor();
    expect((await read(working)).status).toBe('running');
    writeFileSync(join(folder, 'working'), '');
    await hasStatus(working, 'completed');
  });
}
