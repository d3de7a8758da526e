/** Focus of the keyboard after dialogs, refusals and pages. Changes nothing of the showcase. */
import { expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { becomes } from '../support/becomes.ts';
import { show, stage } from './showcase-stage.ts';

/** Names the element with the focus by its id, step, label or text. A step is not named by its text, which grows later. */
const focused = (page: Page) =>
  page.evaluate(() => {
    const { activeElement: one } = (globalThis as unknown as { document: FocusedDocument }).document;
    const name = one.getAttribute('data-step') ?? one.getAttribute('aria-label');
    return one.id || name || one.textContent?.trim() || one.tagName;
  });
interface FocusedDocument {
  readonly activeElement: {
    readonly id: string;
    readonly tagName: string;
    readonly textContent: string | null;
    getAttribute(name: string): string | null;
  };
}

test('the page gets the focus after a run is cancelled by keyboard and its button disappears', async () => {
  const { runId } = await stage.cloud.call<{ runId: string }>('POST', '/v1/runs', {
    type: 'pay-invoice',
    input: { invoice: 'K-1', text: 'by keys' },
  });
  const page = await stage.browser.open(`/runs/${runId}`);
  await page.getByRole('button', { name: 'Answer approve' }).first().waitFor();
  await page.getByRole('button', { name: 'Cancel', exact: true }).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').waitFor();
  await page.keyboard.type('not needed');
  await page.keyboard.press('Enter');
  await page.getByText('Cancelled by').first().waitFor();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Cancel', exact: true }).waitFor({ state: 'detached' });
  // The page gets the focus when the dialog is gone, which may be after the button.
  await becomes(() => focused(page), 'content');
  // The question of the cancelled run can no longer be answered.
  await page.locator('.step-box', { hasText: 'approve' }).getByText('stopped').waitFor();
});

test('the message of a refused request gets the focus that its button lost while sending', async () => {
  const page = await stage.browser.open('/workflows/pay-invoice');
  await page.getByRole('button', { name: /^Start/ }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('invoice').fill('A-9');
  await dialog.getByLabel('text').fill('refused');
  await dialog.getByLabel('Thread (optional)').fill('x'.repeat(5_000));
  await dialog.getByLabel('Thread (optional)').press('Enter');
  await dialog.getByRole('alert').waitFor();
  await becomes(() => focused(page), expect.stringContaining('INVALID_INPUT'));
});

test('the first field of a form has the focus even if its schema arrives late', async () => {
  const { promise: read, resolve: letGo } = Promise.withResolvers<void>();
  const page = await stage.browser.open('/workflows/gift', {
    prepare: (one) =>
      one.route('**/v1/workflows/*/input', async (route) => {
        await read;
        await route.continue();
      }),
  });
  const opener = page.getByRole('button', { name: 'Start a run' });
  const json = page.getByRole('dialog').getByRole('textbox', { name: 'Input' });
  const cents = page.getByRole('dialog').getByRole('textbox', { name: 'cents' });
  await opener.click();
  await json.waitFor();
  letGo();
  await cents.waitFor();
  await becomes(() => cents.evaluate((one) => one === document.activeElement), true);
});

test('the result of a search has the focus, and the name of a workflow links to its runs', async () => {
  const page = await stage.browser.open('/runs');
  await page.locator('.run-grid').waitFor();
  await page.keyboard.press('/');
  await page.keyboard.type('Invoice');
  await page.keyboard.press('Enter');
  const link = page.getByRole('main').getByRole('link', { name: 'pay-invoice', exact: true });
  await link.waitFor();
  expect(await focused(page)).toBe('content');
  await link.click();
  await page.waitForURL('**/runs?type=pay-invoice');
  await page.locator(`#row-${show.asking}`).waitFor();
});

test('a page opened by keyboard gets the focus, and Back returns it to the row', async () => {
  const page = await stage.browser.open('/runs?type=pay-invoice&sort=oldest');
  await page.locator(`#row-${show.failed}`).waitFor();
  const active = () => page.getByRole('grid').getAttribute('aria-activedescendant');
  for (let at = await active(); at !== `row-${show.failed}`; at = await active()) {
    const before = at;
    await page.keyboard.press('ArrowDown');
    await becomes(async () => (await active()) === before, false);
  }
  await page.keyboard.press('Enter');
  await page.waitForURL(`**/runs/${show.failed}`);
  await page.getByRole('heading', { level: 1 }).waitFor();
  await becomes(() => focused(page), 'content');
  await page.goBack();
  await page.locator(`#row-${show.failed}.active`).waitFor();
  await becomes(() => focused(page), 'Runs, oldest first');
  await page.keyboard.press('ArrowDown');
  await becomes(active, expect.not.stringMatching(`^row-${show.failed}$`));
  await page.keyboard.press('ArrowUp');
  await becomes(active, `row-${show.failed}`);
});

test('Escape closes the selected step, and the focus returns to it in the graph', async () => {
  const page = await stage.browser.open(`/runs/${show.failed}`);
  const node = page.getByRole('button', { name: /^book/ });
  await node.focus();
  await page.keyboard.press('Enter');
  await page.waitForURL('**step=book**');
  await page.getByRole('button', { name: 'Close the step' }).focus();
  await page.keyboard.press('Escape');
  await page.getByRole('region', { name: 'The selected step' }).waitFor({ state: 'detached' });
  await becomes(async () => new URL(page.url()).searchParams.get('step'), null);
  await becomes(() => focused(page), 'book');
});

test('one key lists all shortcuts; they do nothing while a dialog is open', async () => {
  const page = await stage.browser.open('/health');
  const dialog = page.getByRole('dialog');
  await page.getByRole('heading', { name: 'Health' }).waitFor();
  await page.keyboard.press('?');
  await dialog.getByText('go to Schedules').waitFor();
  await page.keyboard.press('g');
  await page.keyboard.press('s');
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  expect(new URL(page.url()).pathname).toBe('/health');
  await page.getByLabel('Search by').fill('what? g');
  await page.keyboard.press('?');
  expect(await dialog.count()).toBe(0);
});
