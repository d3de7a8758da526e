/** Tests of Back after forms of a run. On the stage of `flows.test.ts`. */
import { expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { becomes } from '../support/becomes.ts';
import { stage } from './showcase-stage.ts';

const at = (page: Page) => async () => {
  const { pathname, search } = new URL(page.url());
  return `${pathname}${search}`;
};

async function completed(): Promise<string> {
  const body = { type: 'gift', input: { cents: 1, to: 'ada@example.com' } };
  return (await stage.cloud.call<{ runId: string }>('POST', '/v1/runs', body)).runId;
}

test('Back does not reopen a form that was closed or sent', async () => {
  const id = await completed();
  const page = await stage.browser.open('/runs?type=gift');
  await page.locator(`#row-${id} [data-status=completed]`).waitFor();
  await page.locator(`#row-${id}`).getByRole('link').first().click();
  const dialog = page.getByRole('dialog');
  await page.getByRole('button', { name: 'Replay' }).click();
  await dialog.getByLabel('From').selectOption('step:send');
  await page.waitForURL('**from=**');
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  await becomes(at(page), `/runs/${id}`);
  await page.goBack();
  await page.getByRole('heading', { name: 'Runs', exact: true }).waitFor();
  await page.goForward();

  await page.getByRole('button', { name: 'Replay' }).click();
  await dialog.getByRole('button', { name: 'Start the replay' }).click();
  await page.waitForURL((url) => url.pathname.startsWith('/runs/run_') && !url.pathname.endsWith(id));
  await page.goBack();
  await becomes(at(page), `/runs/${id}`);
  expect(await dialog.count()).toBe(0);
});

test('a form opened by a link closes without leaving the page', async () => {
  const id = await completed();
  const page = await stage.browser.open(`/runs/${id}?do=fork&tab=journal`);
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Close' }).first().click();
  await dialog.waitFor({ state: 'detached' });
  expect(await at(page)()).toBe(`/runs/${id}?tab=journal`);
});

/** Opens a completed run, selects a step by a click, and opens the form *Replay*. */
async function replaying(): Promise<{ readonly page: Page; readonly selected: string }> {
  const id = await completed();
  const page = await stage.browser.open(`/runs/${id}`);
  await page.locator('button[data-step="send"][data-status="succeeded"]').click();
  await page.waitForURL('**step=send');
  await page.getByRole('button', { name: 'Replay' }).click();
  await page.getByRole('dialog').waitFor();
  return { page, selected: `/runs/${id}?step=send` };
}

test('a form that is closed twice goes back once', async () => {
  const { page, selected } = await replaying();
  // Both closes come before the browser has gone back, as with Escape pressed twice on a busy page.
  await page.getByRole('dialog').evaluate((dialog) => {
    const close = dialog.querySelector<HTMLButtonElement>('button[aria-label=Close]');
    close?.click();
    close?.click();
  });
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  // Forward reopens the form, which is one entry further.
  await page.goForward();
  await page.getByRole('dialog').waitFor();
  await page.goBack();
  await becomes(at(page), selected);
});

test('the answer to a form that was closed while sending does not change the page', async () => {
  const { page, selected } = await replaying();
  const answer = Promise.withResolvers<void>();
  await page.route('**/replay', async (route) => {
    await answer.promise;
    await route.continue();
  });
  await page.getByRole('button', { name: 'Start the replay' }).click();
  await page.getByRole('button', { name: 'Sending…' }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await becomes(at(page), selected);
  // The page rereads everything before a form would navigate.
  const answered = page.waitForResponse('**/replay');
  answer.resolve();
  await answered;
  await page.waitForResponse('**/v1/runs/**');
  await page.waitForLoadState('networkidle');
  expect(await at(page)()).toBe(selected);
});
