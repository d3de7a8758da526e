/** Cards of the inbox stay where they are under the mouse. On the stage of `flows.test.ts`. */
import { expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { UNDO_MS } from '../../../packages/console/src/pages/inbox/approval-queue.ts';
import { eventually } from '../../system/support.ts';
import { type Holding, holdTimers } from '../support/hold-timers.ts';
import { stage } from './showcase-stage.ts';

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

test('an approved card keeps its place until the mouse leaves the list, so that no click meets another card', async () => {
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
  await page.evaluate(() => {
    for (const call of (globalThis as unknown as Holding).held.splice(0)) call();
  });
  await cardOf(page, first).getByText('Approved.').waitFor();
  await hasStatus(first, 'completed');
  expect(await approve.boundingBox()).toEqual(before);
  await page.mouse.move(0, 0);
  await cardOf(page, first).waitFor({ state: 'detached' });
  await stage.cloud.call('POST', `/v1/runs/${second}/cancel`, { reason: 'only a test' });
});
