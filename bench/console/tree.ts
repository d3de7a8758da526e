/** Measures the page of a run with hundreds of child runs as a user sees it. main.ts checks the limits. */
import type { Browser } from 'playwright-core';
import { firstView, type Seen, seenOf, until, watchAnew } from './seen.ts';

export interface Tree {
  readonly treeMs: number;
  readonly rows: number;
  readonly looked: Seen;
}

const ROW = '.family li';

/** @param address of the run's page */
export async function lookAtTree(browser: Browser, address: string, children: number): Promise<Tree> {
  const { page, firstMs: treeMs } = await firstView(browser, address, ROW);
  await until(page, `document.querySelectorAll(${JSON.stringify(ROW)}).length > ${children}`);
  await watchAnew(page);
  const summary = page.locator('.family summary');
  await summary.click();
  await summary.click();
  for (let i = 0; i < 20; i += 1) await page.mouse.wheel(0, 1_000);
  for (let i = 0; i < 20; i += 1) await page.mouse.wheel(0, -1_000);
  for (const tab of ['Timeline', 'Journal', 'Overview']) {
    await page.getByRole('navigation', { name: 'Views of the run' }).getByRole('link', { name: tab }).click();
    await page.getByRole('region', { name: tab }).waitFor();
    for (let i = 0; i < 5; i += 1) await page.mouse.wheel(0, 2_000);
  }
  const looked = await seenOf(page);
  const rows = await page.locator(ROW).count();
  await page.locator(`${ROW} a`).last().click();
  await page.locator(`${ROW}[aria-current=true]`).waitFor();
  await page.close();
  return { treeMs, rows, looked };
}
