/** Cards of the inbox stay where they are under the mouse. On the stage of `flows.test.ts`. */
import { expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { UNDO_MS } from '../../../packages/console/src/pages/inbox/approval-queue.ts';
import { eventually } from '../../system/support.ts';
import { type Holding, holdTimers } from '../support/hold-timers.ts';
import { show, stage } from './showcase-stage.ts';

const asks = async (invoice: string) => {
  const body = { type: 'pay-invoice', input: { invoice, text: 'B: to stay' } };
  const { runId } = await stage.cloud.call<{ runId: string }>('POST', '/v1/runs', body);
  await hasStatus(runId, 'awaiting_approval');
  return runId;
};

const hasStatus = (runId: string, wanted: string) =>
  eventually(`${runId} is ${wanted}`, async () => {
    const { status } = await stage.cloud.call<{ status: string }>('GET', `/v1/runs/${runId}`);
    return status === wanted || undefined;
  });

const cardOf = (page: Page, runId: string) =>
  page.locator('li.card', { has: page.locator(`a[href="/runs/${runId}"]`) });

/** Ends the undo period. */
const send = (page: Page) =>
  page.evaluate(() => {
    for (const call of (globalThis as unknown as Holding).held.splice(0)) call();
  });

const focusedRun = (page: Page) =>
  page.evaluate(() =>
    document.activeElement?.closest('li.card')?.querySelector('a[href^="/runs/"]')?.getAttribute('href'),
  );

test('an approved card keeps its place until the mouse leaves the list, so that no click hits another card', async () => {
  const [first, second] = [await asks('B-91'), await asks('B-92')];
  const page = await stage.browser.open('/inbox', {
    prepare: (one) => one.addInitScript(holdTimers, UNDO_MS),
  });
  const approve = cardOf(page, second).getByRole('button', { name: 'Approve', exact: true });
  await approve.waitFor();
  await cardOf(page, first).getByRole('button', { name: 'Approve', exact: true }).scrollIntoViewIfNeeded();
  const before = await approve.boundingBox();
  await cardOf(page, first).getByRole('button', { name: 'Approve', exact: true }).click();
  await cardOf(page, first).getByRole('button', { name: 'Undo' }).waitFor();
  expect(await approve.boundingBox()).toEqual(before);
  await send(page);
  await cardOf(page, first).getByText('Approved.').waitFor();
  await hasStatus(first, 'completed');
  expect(await approve.boundingBox()).toEqual(before);
  // The keys skip the approved card: Enter, meant for a question, would follow its link out of the inbox.
  const passed: (string | null | undefined)[] = [];
  for (let left = await page.locator('.inbox > li').count(); left > 0; left -= 1) {
    await page.keyboard.press('j');
    passed.push(await focusedRun(page));
  }
  expect(passed).toContain(`/runs/${second}`);
  expect(passed).not.toContain(`/runs/${first}`);
  await page.mouse.move(0, 0);
  await cardOf(page, first).waitFor({ state: 'detached' });
  await stage.cloud.call('POST', `/v1/runs/${second}/cancel`, { reason: 'only a test' });
});

test('a card whose run ended after an undo leaves the list, also under the mouse, and is not shown as approved', async () => {
  const [undone, approved] = [await asks('B-93'), await asks('B-94')];
  const page = await stage.browser.open('/inbox', {
    prepare: (one) => one.addInitScript(holdTimers, UNDO_MS),
  });
  const approve = (runId: string) =>
    cardOf(page, runId).getByRole('button', { name: 'Approve', exact: true });
  await approve(undone).click();
  await cardOf(page, undone).getByRole('button', { name: 'Undo' }).click();
  await approve(undone).waitFor();
  await stage.cloud.call('POST', `/v1/runs/${undone}/cancel`, { reason: 'only a test' });
  await hasStatus(undone, 'cancelled');
  await approve(approved).click();
  await cardOf(page, approved).getByRole('button', { name: 'Undo' }).waitFor();
  await send(page);
  // The list was read again by now.
  await cardOf(page, approved).getByText('Approved.').waitFor();
  expect(await cardOf(page, undone).allTextContents()).toEqual([]);
  await hasStatus(approved, 'completed');
});

test('a card links its id to the run, and its thread to the runs of the thread', async () => {
  const page = await stage.browser.open('/inbox');
  await cardOf(page, show.asking).getByRole('link', { name: show.asking, exact: true }).click();
  await page.waitForURL(`**/runs/${show.asking}`);
  await page.goBack();
  await cardOf(page, show.asking).getByRole('link', { name: 'invoice-A-1', exact: true }).click();
  await page.locator(`#row-${show.asking}`).waitFor();
  expect(new URL(page.url()).search).toBe('?thread=invoice-A-1');
});
