/** Live runs on the page Health, on the stage of `flows.test.ts`. */
import { expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { show, stage } from './showcase-stage.ts';

interface Listed {
  readonly items: readonly { readonly id: string }[];
}

/** Workers are not killed for this: what the API says of two runs is changed on its way to the page. */
async function withSuspect(page: Page): Promise<void> {
  await page.route('**/v1/runs?status=*', async (route) => {
    const response = await route.fetch();
    const { items, ...rest } = (await response.json()) as Listed;
    const answers: Readonly<Record<string, object>> = {
      [show.asking]: { suspect: { times: 2, alone: true, steps: ['approve'], deaths: [] } },
      [show.doubtful]: { wakeAt: '2026-01-01T00:00:00.000Z' },
    };
    await route.fulfill({
      response,
      json: { ...rest, items: items.map((run) => ({ ...run, ...answers[run.id] })) },
    });
  });
}

test('health leads to each suspect and to the oldest overdue run by a click', async () => {
  const page = await stage.browser.open('/health', { prepare: withSuspect });
  const live = page.getByRole('region', { name: 'Live runs' });
  await live.getByText('All runs of your tenant that have not ended.').waitFor();
  const suspects = live.getByRole('region', { name: 'Suspects' });
  await suspects.getByText('2 times: approve').waitFor();
  const overdue = live.getByRole('region', { name: 'Overdue, the oldest first' });
  expect(await overdue.getByRole('link').allTextContents()).toEqual([show.doubtful]);
  await suspects.getByRole('link', { name: show.asking }).click();
  await page.waitForURL(`**/runs/${show.asking}`);
  await page.goBack();
  await overdue.getByRole('link', { name: show.doubtful }).click();
  await page.waitForURL(`**/runs/${show.doubtful}`);
});
