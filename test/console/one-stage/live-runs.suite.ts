/** Live runs on the page Health, on the stage of `flows.test.ts`. */
import { expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { show, stage } from './showcase-stage.ts';

interface Listed {
  readonly items: readonly { readonly id: string }[];
}

/** Changes the API's answer about two runs, which spares the tests from killing workers. */
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

test('health links to each suspect and to the oldest overdue run', async () => {
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

test('a part of health that keeps failing hides nothing below it', async () => {
  const page = await stage.browser.open('/inbox');
  const json = { title: 'Refused', status: 400, code: 'INVALID_INPUT', detail: 'refused by the test' };
  let asked = 0;
  // The second request stays unanswered.
  await page.route('**/v1/diagnosis', (route) => {
    asked += 1;
    return asked === 1 ? route.fulfill({ status: 400, json }) : undefined;
  });
  await page.getByRole('link', { name: 'Health', exact: true }).click();
  const failure = page.getByRole('alert').filter({ hasText: 'refused by the test' });
  await page.getByRole('region', { name: 'Live runs' }).waitFor();
  const again = page.waitForRequest('**/v1/diagnosis');
  await failure.getByRole('button', { name: 'Try again' }).click();
  await again;
  await page.evaluate(
    () => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))),
  );
  expect(await failure.isVisible()).toBe(true);
  expect(await page.getByRole('region', { name: 'Live runs' }).isVisible()).toBe(true);
});
