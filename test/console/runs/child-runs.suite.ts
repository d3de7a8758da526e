/** Child runs in the list, which hides them by default. */
import { expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { eventually } from '../../system/support.ts';
import { becomes } from '../support/becomes.ts';
import { goTo } from '../support/browser.ts';
import type { Stage } from '../support/stage.ts';
import { writeFamily } from './support/child-documents.ts';
import { pageOf } from './support/pages.ts';
import { summary } from './support/summaries.ts';

const rowOf = (page: Page, id: string) => page.locator(`#row-${id}`);

export function childRuns(stage: Stage): void {
  test('child runs are listed on request, from the menu or an empty list', async () => {
    const page = await stage.browser.open('/inbox');
    const parent = { runId: 'run_top', stepId: 'ask' };
    const items = [
      summary({ id: 'run_child', type: 'part', parent }),
      summary({ id: 'run_top', createdAt: '2025-12-31T00:00:00.000Z' }),
    ];
    await page.route('**/v1/runs?*', (route) => {
      const isPart = new URL(route.request().url()).searchParams.get('type') === 'part';
      return route.fulfill({ json: { items: isPart ? items.slice(0, 1) : items } });
    });
    await page.route('**/v1/runs/stream?*', (route) => route.abort());
    await page.getByRole('link', { name: 'Runs' }).click();
    await rowOf(page, 'run_top').waitFor();
    expect(await rowOf(page, 'run_child').count()).toBe(0);
    // The API's counts by status include child runs.
    const counted = page.getByText('Counts include child runs');
    await counted.waitFor();
    await page.getByText('View', { exact: true }).click();
    await page.getByLabel('Child runs').check();
    await counted.waitFor({ state: 'detached' });
    await rowOf(page, 'run_child').getByText('child').waitFor();
    await page.getByLabel('Child runs').uncheck();
    await rowOf(page, 'run_child').waitFor({ state: 'detached' });

    await goTo(page, '/runs?type=part');
    await page.getByRole('heading', { name: 'Only child runs match' }).waitFor();
    await page.getByRole('button', { name: 'Show child runs' }).click();
    await rowOf(page, 'run_child').waitFor();
  });

  test('older runs are read until the screen is full, even if nearly all of the newest are child runs', async () => {
    const page = await stage.browser.open('/inbox');
    const at = (second: number) => new Date(1_700_000_000_000 - second * 1_000).toISOString();
    const part = (second: number) =>
      summary({
        id: `run_part_${second}`,
        parent: { runId: 'run_top', stepId: 'ask' },
        createdAt: at(second),
      });
    const pages = [
      { items: [summary({ id: 'run_top', createdAt: at(0) }), part(1)], next: '1' },
      { items: [part(2), part(3)], next: '2' },
      { items: [part(4), summary({ id: 'run_old', status: 'pending', createdAt: at(5) })] },
    ];
    await page.route('**/v1/runs?*', (route) => {
      const { searchParams } = new URL(route.request().url());
      const { items = [], next } = pages[Number(searchParams.get('cursor'))] ?? {};
      const isAsked = ({ parent }: { parent?: unknown }) => !(searchParams.has('topLevel') && parent);
      return route.fulfill({ json: { items: items.filter(isAsked), next } });
    });
    await page.route('**/v1/runs/stream?*', (route) => route.abort());
    await page.getByRole('link', { name: 'Runs' }).click();
    await rowOf(page, 'run_top').waitFor();
    // A pending run counts its time from creation, as in the command line.
    await rowOf(page, 'run_old').locator('.c-time', { hasText: 'so far' }).waitFor();
  });

  test('pages of child runs are read to the last, even if the first was read before rendering', async () => {
    const page = await stage.browser.open('/inbox');
    const isEmptyShown = await watchForEmptyList(page);
    await page.route('**/v1/runs?*', (route) => {
      const { searchParams } = new URL(route.request().url());
      const cursor = searchParams.get('cursor');
      const { items, next } = pageOf(cursor);
      const parent = { runId: 'run_top', stepId: 'ask' };
      const shown = cursor === null ? items.map((one) => ({ ...one, parent })) : items;
      return route.fulfill({ json: { items: shown, ...(Number(cursor) < 3 ? { next } : {}) } });
    });
    await page.route('**/v1/runs/stream?*', (route) => route.abort());
    await page.goto(page.url().replace('/inbox', '/runs'));
    await rowOf(page, 'run_1_0').waitFor();
    await eventually('the last run to be in the list', async () => {
      await page.keyboard.press('End');
      return (await rowOf(page, 'run_3_99').count()) > 0 || undefined;
    });
    expect(await isEmptyShown()).toBe(false);
  });

  test('the list has no gap after a whole page of child runs, whether it shows or hides them', async () => {
    const { call, ready } = stage.cloud;
    const { runId: like } = await call<{ runId: string }>('POST', '/v1/runs', { type: 'leaf', input: {} });
    await eventually('a run to be completed', async () => {
      const { status } = await call<{ status: string }>('GET', `/v1/runs/${like}`);
      return status === 'completed' || undefined;
    });
    const ids = await writeFamily(ready, { like, thread: 'wide', children: CHILDREN });
    const page = await stage.browser.open('/runs?thread=wide');
    const inOrder = () =>
      page.locator('.run-rows [role=row]').evaluateAll((rows) => rows.map(({ id }) => id));
    const [top, old] = ids.slice(CHILDREN).map((id) => `row-${id}`);
    await becomes(inOrder, [top, old]);

    await page.getByText('View', { exact: true }).click();
    await page.getByLabel('Child runs').check();
    await rowOf(page, String(ids[0])).waitFor();
    await page.keyboard.press('Escape');
    await eventually('the last run to be in the list', async () => {
      await page.keyboard.press('End');
      return (await rowOf(page, String(ids.at(-1))).count()) > 0 || undefined;
    });
    expect(await page.getByRole('grid').getAttribute('aria-rowcount')).toBe(String(ids.length + 1));
    const end = await inOrder();
    expect(end).toEqual(ids.slice(-end.length).map((id) => `row-${id}`));
  });
}

/** More runs than a page of the API. */
const CHILDREN = 120;

/** @returns a function that says whether the page has ever shown an empty list */
async function watchForEmptyList(page: Page): Promise<() => Promise<boolean>> {
  await page.addInitScript(() => {
    new MutationObserver(() => {
      if (document.querySelector('.runs-page .empty')) document.documentElement.dataset.wasEmpty = '';
    }).observe(document, { childList: true, subtree: true });
  });
  return async () => (await page.locator('html[data-was-empty]').count()) > 0;
}
