/** Parts of the console that show the same thing agree. On the stage of `flows.test.ts`. */
import { expect, test } from '@jest/globals';
import { eventually } from '../../system/support.ts';
import { becomes } from '../support/becomes.ts';
import { type Holding, holdTimers } from '../support/hold-timers.ts';
import { show, stage } from './showcase-stage.ts';

/** Delay of the text fields of the filter. */
const TYPED_MS = 400;

const asks = async (invoice: string) => {
  const body = { type: 'pay-invoice', input: { invoice, text: 'to agree' } };
  const { runId } = await stage.cloud.call<{ runId: string }>('POST', '/v1/runs', body);
  await eventually(`the question of ${runId}`, async () => {
    const { status } = await stage.cloud.call<{ status: string }>('GET', `/v1/runs/${runId}`);
    return status === 'awaiting_approval' || undefined;
  });
  return runId;
};

test('the navigation counts the same open questions as the inbox', async () => {
  const page = await stage.browser.open('/schedules');
  const badge = page.locator('nav .count');
  await badge.waitFor();
  const runId = await asks('N-1');
  // The badge's own request fails, so that it can get the new count only from the inbox.
  await page.route(
    (url) => url.pathname === '/v1/inbox' && url.searchParams.get('limit') === '20',
    (route) => route.abort(),
  );
  await page.getByRole('link', { name: /^Inbox/ }).click();
  await page.locator('li.card', { has: page.locator(`a[href="/runs/${runId}"]`) }).waitFor();
  const open = await page.locator('.inbox-open').textContent();
  await becomes(async () => `${await badge.textContent()} open`, open);
  await stage.cloud.call('POST', `/v1/runs/${runId}/cancel`, { reason: 'only a test' });
});

test('a wait shows how long ago it began', async () => {
  const page = await stage.browser.open(`/runs/${show.asking}`);
  const wait = page.locator('.wait-view').first();
  await wait.waitFor();
  expect(await wait.textContent()).toMatch(/‖\s*approve\s*began (now|\d+\w+ ago) · times out in/);
});

test('the list of runs shows that the kill switch is on, and which workflows are paused', async () => {
  const list = '**/v1/workflows?summary=*';
  const page = await stage.browser.open('/runs', {
    prepare: (one) =>
      one.route(list, async (route) => {
        const answer = (await (await route.fetch()).json()) as { items: { type: string }[] };
        const paused = { since: '2026-01-02T03:04:05.000Z', reason: 'the bank is down' };
        const items = answer.items.map((item) => (item.type === 'gift' ? { ...item, paused } : item));
        await route.fulfill({ json: { ...answer, killSwitch: true, items } });
      }),
  });
  const said = page.getByRole('status').filter({ hasText: 'The kill switch is on' });
  await said.waitFor();
  await said.getByRole('link', { name: 'Workflows' }).waitFor();
  await page.getByRole('status').filter({ hasText: 'gift is paused' }).waitFor();
  await page.getByLabel('Workflow').selectOption('echo');
  await becomes(() => page.getByText('gift is paused').count(), 0);
  await page.getByRole('button', { name: 'Start a run' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Workflow').selectOption('echo');
  await dialog.getByText('A new run is accepted and waits.').waitFor();
  await page.unroute(list);
});

test('the list of runs shows that the database was restored, also in each queued row, and links to its release', async () => {
  const page = await stage.browser.open('/runs', {
    prepare: async (one) => {
      await one.route('**/v1/workflows?summary=*', async (route) => {
        const answer = (await (await route.fetch()).json()) as object;
        await route.fulfill({ json: { ...answer, restored: true } });
      });
      await one.route('**/v1/runs/stream?*', (route) => route.abort());
      await one.route('**/v1/runs?*', async (route) => {
        const answer = (await (await route.fetch()).json()) as { items: { id: string }[] };
        const items = answer.items.map((run) =>
          run.id === show.asking ? { ...run, status: 'pending', waits: [], waitCount: 0 } : run,
        );
        await route.fulfill({ json: { ...answer, items } });
      });
    },
  });
  await page.locator(`#row-${show.asking} .c-now`, { hasText: 'queued · database restored' }).waitFor();
  const said = page.getByRole('status').filter({ hasText: 'The database was restored' });
  await said.getByRole('link').click();
  await page.waitForURL('**/health');
});

test('Replay all, Approve all and Backfill say what starts: a run that would wait, and which question is approved', async () => {
  const runId = await asks('N-4');
  const page = await stage.browser.open('/runs?type=pay-invoice', {
    prepare: (one) =>
      one.route('**/v1/workflows?summary=*', async (route) => {
        const answer = (await (await route.fetch()).json()) as object;
        await route.fulfill({ json: { ...answer, killSwitch: true } });
      }),
  });
  const dialog = page.getByRole('dialog');
  const waits = dialog.getByText('A new run is accepted and waits.');
  await page.getByRole('button', { name: 'Replay all…' }).click();
  await waits.waitFor();
  await dialog.getByRole('button', { name: 'Close' }).last().click();
  await page.getByRole('button', { name: 'Approve all…' }).click();
  await dialog
    .locator(`tr[data-run=${runId}]`, { hasText: 'step approve is approved' })
    .getByText('Pay N-4? to agree')
    .waitFor();
  expect(await waits.count()).toBe(0);
  await dialog.getByRole('button', { name: 'Close' }).last().click();
  await page.getByRole('link', { name: 'Schedules', exact: true }).click();
  await page.getByRole('link', { name: 'Nightly' }).click();
  await page.getByRole('button', { name: 'Backfill' }).click();
  await waits.waitFor();
  await stage.cloud.call('POST', `/v1/runs/${runId}/cancel`, { reason: 'only a test' });
});

test('a schedule declared by a workflow can be paused, but not changed or deleted', async () => {
  const page = await stage.browser.open('/schedules', {
    prepare: (one) =>
      one.route(`**/v1/schedules/${show.schedule}`, async (route) => {
        const answer = (await (await route.fetch()).json()) as object;
        await route.fulfill({ json: { ...answer, origin: 'declared' } });
      }),
  });
  await page.getByRole('link', { name: 'Nightly' }).click();
  const offers = page.getByRole('group', { name: 'What can be done with the schedule' });
  await page.getByText('Change, Delete: declared by a workflow: change it there').waitFor();
  expect(await offers.getByRole('button', { disabled: true }).allTextContents()).toEqual([
    'Change',
    'Delete',
  ]);
  await offers.getByRole('button', { name: 'Pause' }).click();
  await page.getByRole('dialog').getByText('No slot starts a run until it is resumed.').waitFor();
});

test('the page of a run links to the schedule that started it', async () => {
  const { runId } = await stage.cloud.call<{ runId: string }>(
    'POST',
    `/v1/schedules/${show.schedule}/trigger`,
  );
  const page = await stage.browser.open(`/runs/${runId}`);
  await page.locator('.run-facts').getByRole('link', { name: 'scheduled' }).click();
  await page.waitForURL(`**/schedules/${show.schedule}`);
});

test('a bulk change that was sent shows its outcomes, and cannot be sent again', async () => {
  const ids = [await asks('N-2'), await asks('N-3')];
  const page = await stage.browser.open('/runs?type=pay-invoice');
  for (const id of ids) await page.locator(`#row-${id}`).getByRole('checkbox').check();
  const bar = page.getByRole('region', { name: 'Selected runs' });
  await bar.getByRole('button', { name: 'Cancel…' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('Will be cancelled (2)').waitFor();
  await dialog.getByRole('button', { name: 'Cancel 2 runs' }).click();
  await dialog.getByText('Done for 2 of 2 runs.').waitFor();
  expect(await dialog.getByRole('caption').allTextContents()).toEqual(['Sent (2)']);
  expect(await dialog.locator('footer').getByRole('button').allTextContents()).toEqual(['Close']);
  // The focus goes to the only button left.
  await becomes(
    () => dialog.locator('footer button').evaluate((one) => one === document.activeElement),
    true,
  );
});

test('an incomplete comparison in the field Tag is not requested', async () => {
  const asked: (string | null)[] = [];
  const page = await stage.browser.open('/runs', {
    prepare: async (one) => {
      await one.addInitScript(holdTimers, TYPED_MS);
      one.on('request', (request) => asked.push(new URL(request.url()).searchParams.get('match')));
    },
  });
  await page.locator(`#row-${show.completed}`).waitFor();
  const tag = page.getByRole('textbox', { name: 'Tag' });
  const goOff = () =>
    page.evaluate(() => {
      for (const call of (globalThis as unknown as Holding).held.splice(0)) call();
    });
  for (const text of ['amount', 'amount>', 'amount>=', 'amount>=1']) {
    await tag.fill(text);
    await goOff();
  }
  await becomes(async () => asked.includes('amount>=1'), true);
  expect(asked.filter((match) => match?.endsWith('>') || match?.endsWith('='))).toEqual([]);
});
