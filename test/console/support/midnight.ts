/** Keeps tests independent of midnight. */
import type { Page } from 'playwright-core';

const DAY_MS = 86_400_000;

/** Makes today's statistics start a day earlier, because midnight UTC may pass between a test's actions and its checks. */
export const fromYesterday = (page: Page): Promise<unknown> =>
  page.route('**/v1/runs/statistics?*', (route) => {
    const url = new URL(route.request().url());
    const since = Date.parse(url.searchParams.get('since') ?? '');
    url.searchParams.set('since', new Date(since - DAY_MS).toISOString());
    return route.continue({ url: url.href });
  });
