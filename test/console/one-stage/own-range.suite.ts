/** The time of creation and the field Tag in the filter of the list, on the stage of `flows.test.ts`. */
import { expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { SIZES } from '../support/sizes.ts';
import { stage } from './showcase-stage.ts';

const timesOf = (page: Page) => {
  const query = new URL(page.url()).searchParams;
  return [query.get('since'), query.get('until')];
};

test.each(Object.entries(SIZES))(
  '%s: an own start and end list the runs created in between, and Back returns',
  async (_, viewport) => {
    const page = await stage.browser.open('/runs', { viewport, timezoneId: 'Europe/Berlin' });
    const row = page.locator('[id^=row-]').first();
    await row.waitFor();
    await page.getByRole('combobox', { name: 'Created' }).selectOption('own');
    const range = page.getByRole('form', { name: 'Time of creation' });
    await range.getByText('In the time zone of this browser, Europe/Berlin').waitFor();
    const [from, to] = [range.getByLabel('From'), range.getByLabel('To')];
    await from.fill('2020-07-01T12:00');
    await to.fill('2020-07-01T12:00');
    await range.getByText('The end must be after the start.').waitFor();
    expect(await to.getAttribute('aria-invalid')).toBe('true');
    await range.getByRole('button', { name: 'Apply' }).click();
    expect(await to.evaluate((field) => field === document.activeElement)).toBe(true);
    expect(timesOf(page)).toEqual([null, null]);

    await to.fill('2020-07-01T13:00');
    await range.getByRole('button', { name: 'Apply' }).click();
    await page.getByText('The filter: runs created since 2020-07-01 10:00 UTC').waitFor();
    expect(timesOf(page)).toEqual(['2020-07-01T10:00:00.000Z', '2020-07-01T11:00:00.000Z']);
    await page.reload();
    await page.getByText('No run matches').waitFor();
    expect([await from.inputValue(), await to.inputValue()]).toEqual([
      '2020-07-01T12:00',
      '2020-07-01T13:00',
    ]);

    await to.fill('');
    await range.getByRole('button', { name: 'Apply' }).click();
    await row.waitFor();
    expect(timesOf(page)).toEqual(['2020-07-01T10:00:00.000Z', null]);
    await page.goBack();
    await page.getByText('No run matches').waitFor();
    expect(await to.inputValue()).toBe('2020-07-01T13:00');
    await page.goBack();
    await row.waitFor();
    await range.waitFor({ state: 'detached' });
    await page.goForward();
    await page.getByText('No run matches').waitFor();
  },
);

test('a saved view keeps the start and the end', async () => {
  const page = await stage.browser.open('/runs?since=2020-07-01T10:00:00Z&until=2020-07-01T11:00:00Z');
  await page.getByText('No run matches').waitFor();
  await page.locator('.view-menu summary').click();
  await page.getByRole('textbox', { name: 'Name of this view' }).fill('an hour of July');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByRole('button', { name: 'Show all', exact: true }).click();
  await page.locator('[id^=row-]').first().waitFor();
  await page.locator('.view-menu summary').click();
  await page.getByRole('link', { name: 'an hour of July' }).click();
  await page.getByText('No run matches').waitFor();
  expect(timesOf(page)).toEqual(['2020-07-01T10:00:00Z', '2020-07-01T11:00:00Z']);
});

test.each(Object.entries(SIZES))(
  '%s: the field Tag shows its help while it has the focus',
  async (_, viewport) => {
    const page = await stage.browser.open('/runs', { viewport });
    const field = page.getByRole('textbox', { name: 'Tag' });
    const help = page.locator(`[id="${await field.getAttribute('aria-describedby')}"]`);
    expect(await help.isVisible()).toBe(false);
    await field.click();
    await help.filter({ hasText: 'amount>100' }).waitFor();
    // The rows do not move, so that a click does not miss its row.
    await page.locator('[id^=row-]').first().getByRole('link').first().click();
    await page.waitForURL('**/runs/run_*');
  },
);
