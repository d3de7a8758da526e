/** Measures the page of a run with thousands of steps as a user sees it. main.ts checks the limits. */
import type { Browser, Page } from 'playwright-core';
import { firstView, heapMb, hold, type Seen, seenOf, watchAnew } from './seen.ts';

interface LongRun {
  /** Loading time of the head of the run, and of its first steps. */
  readonly headMs: number;
  readonly stepsMs: number;
  readonly looked: Seen;
  readonly elements: number;
  readonly heapMb: number;
}

const HEAD = '.run-state';
const STEP = '[data-step]';

/** @param address of the run's page */
export async function lookAtLongRun(browser: Browser, address: string): Promise<LongRun> {
  const head = await firstView(browser, address, HEAD);
  await head.page.close();
  const { page, firstMs: stepsMs } = await firstView(browser, address, STEP);
  await watchAnew(page);
  await lookAround(page);
  const looked = await seenOf(page);
  const elements: number = await page.evaluate('document.querySelectorAll("*").length');
  return { headMs: head.firstMs, stepsMs, looked, elements, heapMb: await heapMb(page) };
}

/** Typical actions of a user on a run page. */
async function lookAround(page: Page): Promise<void> {
  await page.locator(`${STEP}[tabindex='0']`).first().focus();
  await hold(page, 'ArrowDown', 30);
  await page.keyboard.press('Enter');
  for (let i = 0; i < 10; i += 1) await page.mouse.wheel(0, 600);
  for (const tab of ['Timeline', 'Journal', 'Checkpoints', 'Overview']) {
    await page.getByRole('navigation', { name: 'Views of the run' }).getByRole('link', { name: tab }).click();
    await page.getByRole('region', { name: tab, exact: true }).waitFor();
    for (let i = 0; i < 10; i += 1) await page.mouse.wheel(0, 2_000);
  }
  await page
    .getByRole('button', { name: 'table' })
    .or(page.getByRole('link', { name: 'table' }))
    .first()
    .click();
  for (let i = 0; i < 10; i += 1) await page.mouse.wheel(0, 4_000);
}
