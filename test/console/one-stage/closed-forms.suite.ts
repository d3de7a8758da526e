/** Forms that are closed while they are sent, and pages that cannot be read again. On the stage of `flows.test.ts`. */
import { expect, test } from '@jest/globals';
import type { Page, Route } from 'playwright-core';
import { becomes } from '../support/becomes.ts';
import { goTo } from '../support/browser.ts';
import { show, stage } from './showcase-stage.ts';

/** Requests that the API gets once they are let go. */
async function holdStarts(page: Page): Promise<() => void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const hold = async (route: Route) => {
    if (route.request().method() === 'POST') await promise;
    await route.continue();
  };
  await page.route('**/v1/runs', hold);
  return resolve;
}

test('a form that is closed while it is sent says on the open page what became of it', async () => {
  const page = await stage.browser.open('/workflows/echo');
  const letGo = await holdStarts(page);
  const dialog = page.getByRole('dialog');
  const send = dialog.getByRole('button', { name: /^Start$|^Sending/ });
  await page.getByRole('button', { name: 'Start a run' }).click();
  await dialog.getByRole('textbox', { name: 'text' }).fill('closed too early');
  await send.click();
  await dialog.getByText('Sending…').waitFor();
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });

  await goTo(page, '/workflows/gift');
  await page.getByRole('heading', { name: 'gift', level: 1 }).waitFor();
  await page.getByRole('button', { name: 'Start a run' }).click();
  await dialog.getByRole('textbox', { name: 'cents' }).fill('-3');
  await dialog.getByRole('textbox', { name: 'to' }).fill('nobody');
  await send.click();
  await dialog.getByText('Sending…').waitFor();
  await dialog.getByRole('button', { name: 'Close' }).first().click();
  await page.getByRole('link', { name: 'Schedules', exact: true }).click();
  letGo();

  const refused = page.getByRole('alert').filter({ hasText: 'Start gift: not done' });
  await refused.getByText('INVALID_INPUT').waitFor();
  await refused.getByRole('link').and(page.locator('[href="/workflows/gift"]')).waitFor();
  const done = page.getByRole('status').filter({ hasText: 'Start echo: done.' });
  await done.getByRole('link').click();
  await page.waitForURL('**/runs/run_*');
  await page.getByRole('heading', { name: 'echo' }).waitFor();
  await page.getByRole('button', { name: 'Dismiss' }).click();
  await refused.waitFor({ state: 'detached' });
  await done.waitFor({ state: 'detached' });
});

test('a form leads on once it is done, however long it takes to read its page again', async () => {
  const page = await stage.browser.open('/workflows/echo');
  const dialog = page.getByRole('dialog');
  await page.getByRole('button', { name: 'Start a run' }).click();
  await dialog.getByRole('textbox', { name: 'text' }).fill('on a slow line');
  // Answered never, as over a line that is slow enough.
  await page.route(/\/v1\/(?:workflows|runs\/statistics)\b/, () => undefined);
  await dialog.getByRole('button', { name: 'Start', exact: true }).click();
  await page.waitForURL('**/runs/run_*');
});

test('a schedule that cannot be read again stays on the page, with the form and what was typed', async () => {
  const page = await stage.browser.open(`/schedules/${show.schedule}`, {
    prepare: (one) => one.clock.install(),
  });
  await page.getByRole('button', { name: 'Change', exact: true }).click();
  const name = page.getByRole('dialog').getByRole('textbox', { name: /^Name/ });
  await name.fill('typed for long');
  const problem = { title: 'Refused', status: 400, code: 'INVALID_INPUT', detail: 'It is not one.' };
  await page.route('**/v1/schedules**', (route) => route.fulfill({ status: 400, json: problem }));
  await page.route('**/v1/schedules/**', (route) => route.fulfill({ status: 400, json: problem }));
  await page.clock.runFor('01:00');
  // The list and the schedule beside it each say so.
  await becomes(() => page.locator('main .failure').count(), 2);
  expect(await name.inputValue()).toBe('typed for long');
  await page.keyboard.press('Escape');
  await page.locator('td').getByRole('link', { name: 'Nightly' }).waitFor();
  await page.getByRole('button', { name: 'Change', exact: true }).waitFor();
});

test('a form that is refused because its schedule is gone says so on the page too', async () => {
  const { id } = await stage.cloud.call<{ id: string }>('POST', '/v1/schedules', {
    type: 'chain-10',
    cron: '30 3 * * *',
    timezone: 'Europe/Berlin',
    name: 'To be deleted',
  });
  const page = await stage.browser.open(`/schedules/${id}`);
  const dialog = page.getByRole('dialog');
  await page.getByRole('button', { name: 'Pause', exact: true }).click();
  await dialog.getByRole('textbox').fill('holidays');
  await stage.cloud.call('DELETE', `/v1/schedules/${id}`);
  await dialog.getByRole('button', { name: 'Pause', exact: true }).click();
  await dialog.getByRole('alert').getByText('NOT_FOUND').waitFor();
  await page.locator('[aria-label="The chosen schedule"] > .failure', { hasText: 'NOT_FOUND' }).waitFor();
  expect(await dialog.getByRole('textbox').inputValue()).toBe('holidays');
});
