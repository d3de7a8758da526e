/** Forms that are closed while they are sent, and pages that cannot be read again. On the stage of `flows.test.ts`. */
import { expect, test } from '@jest/globals';
import type { Page, Route } from 'playwright-core';
import { becomes } from '../support/becomes.ts';
import { goTo } from '../support/browser.ts';
import { show, stage } from './showcase-stage.ts';

/** Holds requests back from the API until a test releases them. */
async function holdStarts(page: Page): Promise<() => void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const hold = async (route: Route) => {
    if (route.request().method() === 'POST') await promise;
    await route.continue();
  };
  await page.route('**/v1/runs', hold);
  return resolve;
}

test('the outcome of a form that was closed while sending is shown on the open page', async () => {
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

test('many outcomes and the notice of an unreachable API cover at most half of a phone, and not each other', async () => {
  const page = await stage.browser.open('/workflows/gift', {
    prepare: (one) => one.clock.install(),
    viewport: { width: 320, height: 640 },
  });
  const { promise, resolve: letGo } = Promise.withResolvers<void>();
  await page.route('**/v1/runs', async (route) => {
    await promise;
    const problem = { title: 'Refused', status: 400, code: 'INVALID_INPUT', detail: 'no '.repeat(100) };
    await route.fulfill({ status: 400, json: problem });
  });
  const dialog = page.getByRole('dialog');
  await page.getByRole('button', { name: 'Start a run' }).click();
  await dialog.getByRole('textbox', { name: 'cents' }).fill('3');
  await dialog.getByRole('textbox', { name: 'to' }).fill('nobody');
  await dialog.getByRole('button', { name: 'Start', exact: true }).click();
  await dialog.getByText('Sending…').waitFor();
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  letGo();
  const refused = page.getByRole('alert').filter({ hasText: 'Start gift: not done' });
  await refused.waitFor();
  // Nine more: forms of other pages.
  await refused.evaluate((one) => {
    for (let more = 1; more < 10; more += 1)
      one.querySelector('p')?.after(one.querySelector('p')?.cloneNode(true) ?? '');
  });
  await page.route('**/v1/**', (route) => route.abort());
  const away = page.getByText('The API has not responded for');
  await becomes(async () => {
    await page.clock.runFor('00:05');
    return away.isVisible();
  }, true);
  await page.evaluate(() => scrollTo(0, document.body.scrollHeight));
  const covers = () =>
    page.locator('main').evaluate((main) => {
      const at = (y: number) => document.elementFromPoint(160, y);
      const message = (one: Element | null) => one?.closest('.notices, [role=alert]:not(dialog *)');
      const rows = Array.from({ length: 64 }, (_, row) => row * 10 + 5);
      return { covered: rows.filter((y) => main.contains(at(y)) && message(at(y))).length, of: rows.length };
    });
  const { covered, of } = await covers();
  expect(covered).toBeGreaterThan(0);
  expect(covered).toBeLessThanOrEqual(of / 2);
  const boxes = [await page.locator('.notices').boundingBox(), await refused.boundingBox()];
  expect((boxes[0]?.y ?? 0) + (boxes[0]?.height ?? Number.NaN)).toBeLessThanOrEqual(boxes[1]?.y ?? 0);
  // The messages can be dismissed.
  await page.getByRole('button', { name: 'Dismiss' }).click();
  await refused.waitFor({ state: 'detached' });
});

test('a form that was accepted opens the run, without waiting for its own page to be read again', async () => {
  const page = await stage.browser.open('/workflows/echo');
  const dialog = page.getByRole('dialog');
  await page.getByRole('button', { name: 'Start a run' }).click();
  await dialog.getByRole('textbox', { name: 'text' }).fill('on a slow line');
  // The answer never comes, as on a very slow connection.
  await page.route(/\/v1\/(?:workflows|runs\/statistics)\b/, () => undefined);
  await dialog.getByRole('button', { name: 'Start', exact: true }).click();
  await page.waitForURL('**/runs/run_*');
});

test('a schedule that cannot be read again stays on the page, with its form and the typed text', async () => {
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
  // The list and the schedule beside it each show the failure.
  await becomes(() => page.locator('main .failure').count(), 2);
  expect(await name.inputValue()).toBe('typed for long');
  // The first press asks, because a text was typed.
  for (const _ of [1, 2]) await page.keyboard.press('Escape');
  await page.locator('td').getByRole('link', { name: 'Nightly' }).waitFor();
  await page.getByRole('button', { name: 'Change', exact: true }).waitFor();
});

test('a form refused because its schedule was deleted says so on the page too', async () => {
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
  const chosen = page.locator('[aria-label="The chosen schedule"]');
  await chosen.getByRole('heading', { name: 'Schedule not found' }).waitFor();
  expect(await chosen.getByRole('button', { name: 'Try again' }).count()).toBe(0);
  expect(await dialog.getByRole('textbox').inputValue()).toBe('holidays');
});
