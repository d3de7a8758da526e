/** Flows on the list of runs: start, filter, bulk change, saved views. */
import { expect } from '@jest/globals';
import { becomes } from '../support/becomes.ts';
import { focusedOutside, hasFocus } from '../support/hands.ts';
import type { Flow } from './flow.ts';

export const OVER_RUNS: readonly Flow[] = [
  {
    name: 'the list is filtered by a status and a thread, and the filter is cleared',
    // Other flows add such runs below these meanwhile.
    path: () => '/runs?type=pay-invoice&sort=oldest',
    async run({ page, hand, show }) {
      const [done, failed] = [page.locator(`#row-${show.completed}`), page.locator(`#row-${show.failed}`)];
      await done.waitFor();
      await hand.press(
        page.getByRole('group', { name: 'Status' }).getByRole('button', { name: /^\S* ?failed/ }),
      );
      await done.waitFor({ state: 'detached' });
      await failed.waitFor();
      await hand.fill(page.getByRole('textbox', { name: 'Thread' }), 'nowhere');
      await page.getByRole('heading', { name: 'No run matches' }).waitFor();
      await hand.press(page.getByRole('button', { name: 'Show all runs' }));
      await page.waitForURL(/\/runs(?:\?sort=oldest)?$/);
    },
  },
  {
    name: 'the form shows all problems of an input at once, and starts the run when they are corrected',
    path: () => '/runs',
    async run({ page, hand }) {
      await hand.press(page.getByRole('button', { name: 'Start a run' }));
      const dialog = page.getByRole('dialog');
      await hand.choose(dialog.getByRole('combobox').first(), 'pay-invoice');
      const issues = dialog.getByRole('status').filter({ hasText: 'invoice' });
      await issues.filter({ hasText: 'text' }).waitFor();
      const start = dialog.getByRole('button', { name: 'Start', exact: true });
      expect(await start.isDisabled()).toBe(true);
      await hand.fill(dialog.getByRole('textbox', { name: 'invoice' }), 'A-9');
      await hand.fill(dialog.getByRole('textbox', { name: 'text' }), 'for April');
      await issues.waitFor({ state: 'detached' });
      await hand.press(start);
      await page.waitForURL('**/runs/run_*');
      await page.getByText('Pay A-9?').first().waitFor();
    },
  },
  {
    name: 'a refused member of an input is shown at its field until it is corrected',
    path: () => '/workflows/gift',
    async run({ page, hand }) {
      await hand.press(page.getByRole('button', { name: 'Start a run' }));
      const dialog = page.getByRole('dialog');
      const [cents, to] = [
        dialog.getByRole('textbox', { name: 'cents' }),
        dialog.getByRole('textbox', { name: 'to' }),
      ];
      const start = dialog.getByRole('button', { name: 'Start', exact: true });
      await hand.fill(cents, '-3');
      await hand.fill(to, 'nobody');
      await hand.press(start);
      await dialog.getByRole('alert').waitFor();
      const below = async (field: typeof cents) =>
        page.locator(`[id="${await field.getAttribute('aria-describedby')}"]`).textContent();
      await becomes(() => below(cents), expect.stringMatching(/^Too small/));
      await becomes(() => below(to), expect.stringMatching(/^Invalid email/));
      expect(await cents.getAttribute('aria-invalid')).toBe('true');
      await hand.fill(cents, '300');
      await becomes(() => below(cents), '');
      expect(await below(to)).toMatch(/^Invalid email/);
      await hand.fill(to, 'ada@example.com');
      await hand.press(start);
      await page.waitForURL('**/runs/run_*');
    },
  },
  {
    name: 'selected runs are cancelled together, with progress and an outcome for each',
    path: () => '/schedules',
    async run({ page, hand, call, go }) {
      const threadId = crypto.randomUUID();
      const start = () =>
        call<{ runId: string }>('POST', '/v1/runs', { type: 'refund', input: { order: 'B-3' }, threadId });
      const ids = (await Promise.all([start(), start()])).map(({ runId }) => runId);
      await go(`/runs?thread=${threadId}`);
      for (const id of ids) await page.locator(`#row-${id} [data-status=awaiting_approval]`).waitFor();
      if (hand.name === 'mouse')
        for (const id of ids) await page.locator(`#row-${id}`).getByRole('checkbox').click();
      else for (const key of ['j', 'x', 'Shift+J']) await page.keyboard.press(key);
      const bar = page.getByRole('region', { name: 'Selected runs' });
      await bar.getByText('2 selected').waitFor();
      await hand.press(bar.getByRole('button', { name: 'Cancel…', exact: true }));
      const dialog = page.getByRole('dialog');
      await dialog.getByRole('status').getByText('2 runs will be cancelled.').waitFor();
      await hand.fill(dialog.getByLabel(/^Reason/), 'no need');
      await hand.press(dialog.getByRole('button', { name: 'Cancel 2 runs' }));
      await dialog.getByRole('status').getByText('Done for 2 of 2 runs.').waitFor();
      for (const id of ids) await dialog.locator(`tr[data-run=${id}]`, { hasText: 'cancelled' }).waitFor();
      await hand.press(dialog.getByRole('button', { name: 'Close', exact: true }).last());
      for (const id of ids) await page.locator(`#row-${id} [data-status=cancelled]`).waitFor();
    },
  },
  {
    name: 'a dialog keeps the focus while it is open, and returns it when it closes',
    path: () => '/runs',
    async run({ page, hand }) {
      const opener = page.getByRole('button', { name: 'Start a run' });
      const dialog = page.getByRole('dialog');
      await hand.press(opener);
      await dialog.getByRole('combobox').first().waitFor();
      if (hand.name === 'keyboard') {
        expect(await focusedOutside(page, dialog)).toEqual([]);
        await page.keyboard.press('Escape');
      } else await dialog.getByRole('button', { name: 'Close' }).first().click();
      await dialog.waitFor({ state: 'detached' });
      await becomes(() => hasFocus(opener), true);
    },
  },
  {
    name: 'a view is saved under a name, opened, and deleted',
    path: () => '/runs?status=failed',
    async run({ page, hand, go }) {
      const menu = page.locator('.view-menu');
      const view = page.getByText('View', { exact: true });
      await hand.press(view);
      await hand.press(menu.getByLabel('Trigger'));
      await page.waitForURL('**hide=trigger**');
      await hand.fill(menu.getByLabel('Name of this view'), 'failed ones');
      await hand.press(menu.getByRole('button', { name: 'Save', exact: true }));
      await menu.getByRole('link', { name: 'failed ones' }).waitFor();
      await go('/inbox');
      await page.getByRole('heading', { name: 'Inbox' }).waitFor();
      await go('/runs');
      await hand.press(view);
      await hand.press(menu.getByRole('link', { name: 'failed ones' }));
      await page.waitForURL('**/runs?**status=failed**');
      const gone = menu.getByRole('button', { name: 'Delete the view failed ones' });
      await hand.press(gone);
      await gone.waitFor({ state: 'detached' });
    },
  },
];
