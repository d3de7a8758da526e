/** Reaching, raising and showing the budgets of a run and of a day. On the stage of `flows.test.ts`. */
import { expect, test } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { stage } from '../one-stage/showcase-stage.ts';
import { becomes } from '../support/becomes.ts';
import { goTo } from '../support/browser.ts';
import { HANDS, type Hand } from '../support/hands.ts';

const dialog = (page: Page) => page.getByRole('dialog');

/** @param unasked the form's text about a raise without amounts */
async function raise(
  hand: Hand,
  opener: Locator,
  { verb, usd, unasked }: { readonly verb: string; readonly usd: string; readonly unasked: string },
): Promise<void> {
  const page = opener.page();
  await hand.press(opener);
  await dialog(page).getByText(unasked, { exact: true }).waitFor();
  await hand.fill(dialog(page).getByRole('textbox', { name: 'US dollars' }), usd);
  await hand.press(dialog(page).getByRole('button', { name: verb, exact: true }));
  await dialog(page).waitFor({ state: 'detached' });
}

const decide = (page: Page) => page.getByRole('button', { name: 'Decide about the budget' });

test.each(HANDS)(
  'by $name: a run that reaches its own budget, then that of the day, continues after each raise, and Health shows the day',
  async (hand) => {
    const read = await stage.cloud.call<{ spent: { usd?: number }; limits: { usd: number } }>(
      'GET',
      '/v1/budgets/today',
    );
    const left = read.limits.usd - (read.spent.usd ?? 0);
    // Each turn spends a dollar; the budget of the run is three.
    const body = { type: 'spend', input: { turns: left + 1 } };
    const { runId } = await stage.cloud.call<{ runId: string }>('POST', '/v1/runs', body);
    const page = await stage.browser.open(`/runs/${runId}`);
    await page.locator('.run-state').getByText('3.00 USD of 3.00 USD spent').first().waitFor();
    await raise(hand, decide(page), {
      verb: 'Raise the budget',
      usd: '100',
      unasked: 'Without amounts, it is raised by 3 US dollars.',
    });

    // The run also continues without an answer when the day ends, so nothing has failed.
    const wait = page.locator('.wait-view').filter({ hasText: 'The tenant has reached its budget' });
    await wait.waitFor();
    expect(await wait.textContent()).toMatch(/· continues by itself in /);
    await goTo(page, '/health');
    const day = page.getByRole('region', { name: 'Budget of today' });
    const spent = day.locator('.readings > div', { hasText: 'US dollars' });
    await becomes(() => spent.textContent(), `US dollars${read.limits.usd} of ${read.limits.usd}spent`);
    expect(await spent.locator('.bad').count()).toBe(1);

    await hand.press(day.getByRole('link', { name: 'inbox' }));
    const card = page.locator('li.card', { has: page.locator(`a[href="/runs/${runId}"]`) });
    await card.getByText(/continues by itself in/).waitFor();
    await hand.press(card.getByRole('button', { name: 'Answer' }));
    await dialog(page)
      .getByText(/^The run continues by itself in /)
      .waitFor();
    await page.keyboard.press('Escape');
    await raise(hand, card.getByRole('button', { name: 'Answer' }), {
      verb: 'Raise the budget of the day',
      usd: '10',
      unasked:
        'For all runs of the tenant until midnight UTC. Without amounts, it is raised by 5 US dollars, unless the limit was raised since the question.',
    });
    await goTo(page, `/runs/${runId}`);
    await page.locator('.run-status [data-status=completed]').waitFor();
    await goTo(page, '/health');
    await becomes(
      () => spent.textContent(),
      `US dollars${read.limits.usd + 1} of ${read.limits.usd + 10}spent`,
    );
    expect(await spent.locator('.bad').count()).toBe(0);
    await day.getByText('raised it by 10 US dollars').last().waitFor();
  },
);

test('Health asks for the budgets of a day once, and shows none if the installation has none', async () => {
  let asked = 0;
  const page = await stage.browser.open('/health', {
    async prepare(one) {
      await one.clock.install();
      await one.route('**/v1/budgets/today', async (route) => {
        asked += 1;
        const answer = (await (await route.fetch()).json()) as object;
        await route.fulfill({ json: { ...answer, limits: {}, spent: {}, held: {}, raises: [] } });
      });
    },
  });
  await page.getByRole('region', { name: 'Runs of today' }).waitFor();
  expect(await page.getByText('Budget of today').count()).toBe(0);
  const others = page.waitForResponse(/\/v1\/runtime|\/v1\/diagnosis/);
  await page.clock.runFor('01:00');
  await others;
  expect(asked).toBe(1);
});
