/** Flows on the page of a run and in the inbox. */
import { expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import { UNDO_MS } from '../../../packages/console/src/pages/inbox/approval-queue.ts';
import { eventually } from '../../system/support.ts';
import { becomes } from '../support/becomes.ts';
import { hasFocus } from '../support/hands.ts';
import { holdTimers } from '../support/hold-timers.ts';
import type { Flow } from './flow.ts';

const panel = (page: Page) => page.getByRole('region', { name: 'The selected step' });
const tab = (page: Page, name: string) =>
  page.getByRole('navigation', { name: 'Views of the run' }).getByRole('link', { name, exact: true });
const cardOf = (page: Page, runId: string) =>
  page.locator('li.card', { has: page.locator(`a[href="/runs/${runId}"]`) });

export const OVER_A_RUN: readonly Flow[] = [
  {
    name: 'from the list to a step of a run, in the graph, the table and the timeline, and back',
    // Other flows add failed runs below this one meanwhile.
    path: () => '/runs?status=failed&type=pay-invoice&sort=oldest',
    async run({ page, hand, show }) {
      const row = page.locator(`#row-${show.failed}`);
      await row.waitFor();
      if (hand.name === 'mouse') await row.getByRole('link', { name: 'pay-invoice' }).click();
      else await openByArrows(page, show.failed);
      await page.waitForURL(`**/runs/${show.failed}`);
      await openInGraph(page, hand.name);
      await panel(page).getByRole('heading', { name: 'book' }).waitFor();
      await panel(page).getByText('the books are closed').first().waitFor();
      await hand.press(page.getByRole('button', { name: 'Close the step' }));
      await panel(page).waitFor({ state: 'detached' });
      await hand.press(page.getByRole('button', { name: 'table', exact: true }));
      const cells = page.locator('.step-table [data-step=book]');
      if (hand.name === 'mouse') await cells.locator('td').filter({ visible: true }).last().click();
      else await hand.press(cells.getByRole('button'));
      await panel(page).getByRole('link', { name: 'Its events' }).waitFor();
      await hand.press(page.getByRole('button', { name: 'Close the step' }));
      await hand.press(tab(page, 'Timeline'));
      const line = page.locator('.chart-row[data-step=book]');
      if (hand.name === 'mouse') await line.locator('.bar').first().click();
      else await hand.press(line.getByRole('link'));
      await panel(page).getByRole('link', { name: 'Its events' }).waitFor();
      await hand.press(page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Runs' }));
      await page.getByRole('heading', { name: 'Runs', exact: true }).waitFor();
    },
  },
  {
    name: 'each tab of a run is opened',
    path: ({ failed }) => `/runs/${failed}`,
    async run({ page, hand }) {
      if (hand.name === 'keyboard') await tab(page, 'Overview').focus();
      for (const [name, shows] of [
        ['Timeline', 'Since creation'],
        ['Journal', 'What it says'],
        ['Checkpoints', 'Tokens'],
        ['Effects', 'invoice.pay'],
        ['Logs', 'logged nothing'],
      ] as const) {
        if (hand.name === 'keyboard') {
          await page.keyboard.press('ArrowRight');
          await becomes(() => hasFocus(tab(page, name)), true);
          await page.keyboard.press('Enter');
        } else await tab(page, name).click();
        await page.getByRole('region', { name, exact: true }).getByText(shows).first().waitFor();
      }
    },
  },
  {
    name: 'an approval is rejected from its card, with a note',
    path: () => '/schedules',
    async run({ page, hand, call, go }) {
      const { runId } = await call<{ runId: string }>('POST', '/v1/runs', {
        type: 'refund',
        input: { order: 'B-2' },
      });
      await eventually(`the question of ${runId}`, async () => {
        const { status } = await call<{ status: string }>('GET', `/v1/runs/${runId}`);
        return status === 'awaiting_approval' || undefined;
      });
      await go('/inbox');
      const card = cardOf(page, runId);
      await card.getByText('Refund B-2?').waitFor();
      await hand.press(card.getByRole('button', { name: 'Reject', exact: true }));
      const dialog = page.getByRole('dialog');
      await hand.fill(dialog.getByRole('textbox', { name: /^Note/ }), 'paid already');
      await hand.press(dialog.getByRole('button', { name: 'Reject', exact: true }));
      await card.waitFor({ state: 'detached' });
      const ended = await eventually(`the end of ${runId}`, async () => {
        const run = await call<{ status: string; error?: { message: string } }>('GET', `/v1/runs/${runId}`);
        return run.status === 'failed' ? run : undefined;
      });
      expect(ended.error?.message).toContain('paid already');
    },
  },
  // This flow is last, because it stops the timers of its page for good.
  {
    name: 'an approval is given and undone, and stays open',
    path: () => '/inbox',
    async run({ page, hand, show, call }) {
      const card = cardOf(page, show.asking);
      await card.getByText('Pay A-1?').waitFor();
      await card.getByText('42 EUR').waitFor();
      await page.evaluate(holdTimers, UNDO_MS);
      await hand.press(card.getByRole('button', { name: 'Approve', exact: true }));
      await hand.press(card.getByRole('button', { name: 'Undo' }));
      await card.getByRole('button', { name: 'Approve', exact: true }).waitFor();
      const { status } = await call<{ status: string }>('GET', `/v1/runs/${show.asking}`);
      expect(status).toBe('awaiting_approval');
    },
  },
];

/** Moves through the list with the key j. */
async function openByArrows(page: Page, runId: string): Promise<void> {
  const active = () => page.getByRole('grid').getAttribute('aria-activedescendant');
  for (let at = await active(); at !== `row-${runId}`; at = await active()) {
    await page.keyboard.press('j');
    const before = at;
    await becomes(async () => (await active()) === before, false);
  }
  await page.keyboard.press('Enter');
}

/** Clicks the step, or goes to the graph by Tab and on by the arrow keys. Steps out of view are not in the page. */
async function openInGraph(page: Page, hand: string): Promise<void> {
  const graph = page.locator('.graph');
  if (hand === 'mouse') return graph.locator('button[data-step=book]').click();
  await graph.locator('button[data-step][tabindex="0"]').focus();
  const at = () => graph.evaluate(() => document.activeElement?.getAttribute('data-step'));
  for (let step = await at(); step !== 'book'; step = await at()) {
    const before = step;
    await page.keyboard.press('ArrowDown');
    await becomes(async () => [null, before].includes((await at()) ?? null), false);
  }
  await page.keyboard.press('Enter');
}
