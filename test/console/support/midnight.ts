/** A page whose day is longer than a test. */
import type { Page } from 'playwright-core';

const DAY_MS = 86_400_000;

/** Statistics of today begin with those of the day before: midnight UTC may pass between what a test does and its look at the page. */
export const fromYesterday = (page: Page): Promise<unknown> =>
  page.route('**/v1/runs/statistics?*', (route) => {
    const url = new URL(route.request().url());
    const since = Date.parse(url.searchParams.get('since') ?? '');
    url.searchParams.set('since', new Date(since - DAY_MS).toISOString());
    return route.continue({ url: url.href });
  });
