/** The scroll position in a long list while one of its runs is open. */
import { expect, test } from '@jest/globals';
import { eventually } from '../../system/support.ts';
import type { Stage } from '../support/stage.ts';
import { pageOf } from './support/pages.ts';

export function placeInList(stage: Stage): void {
  test('Back from a run returns to its place in the list, also on a later page', async () => {
    const page = await stage.browser.open('/inbox');
    await page.route('**/v1/runs?*', (route) =>
      route.fulfill({ json: pageOf(new URL(route.request().url()).searchParams.get('cursor')) }),
    );
    await page.route('**/v1/runs/stream?*', (route) => route.abort());
    await page.getByRole('link', { name: 'Runs' }).click();
    await page.locator('#row-run_0_0').waitFor();
    const row = page.locator('#row-run_4_40');
    await eventually('a row of the fifth page to be in view', async () => {
      const top = await page.evaluate('window.scrollY');
      await page.mouse.wheel(0, Math.min(4_000, 440 * 50 - Number(top)));
      return (await row.isVisible()) || undefined;
    });
    await row.locator('.c-run a').click();
    await page.waitForURL('**/runs/run_4_40');
    await page.goBack();
    await row.waitFor();
    expect(await row.evaluate((one) => one.getBoundingClientRect().top < window.innerHeight)).toBe(true);
  });

  test('a click on a row opens its run, but not one on its checkbox, its id or with a modifier', async () => {
    const page = await stage.browser.open('/inbox');
    await page.route('**/v1/runs?*', (route) => route.fulfill({ json: pageOf(null) }));
    await page.route('**/v1/runs/stream?*', (route) => route.abort());
    await page.getByRole('link', { name: 'Runs' }).click();
    const row = page.locator('#row-run_0_3');
    await row.locator('.c-choose').click();
    await row.getByRole('checkbox').click();
    await row.locator('button.id').click();
    await row.locator('.c-status').click({ modifiers: ['Shift'] });
    expect(new URL(page.url()).pathname).toBe('/runs');
    await row.locator('.c-status').click();
    await page.waitForURL('**/runs/run_0_3');
  });
}
