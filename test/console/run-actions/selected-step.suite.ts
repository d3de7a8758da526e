/** Forms that start from the selected step. On the stage of `flows.test.ts`. */
import { expect, test } from '@jest/globals';
import { show, stage } from '../one-stage/showcase-stage.ts';
import { becomes } from '../support/becomes.ts';
import { HANDS } from '../support/hands.ts';

test.each(HANDS)('by $name: a fork is proposed from the selected step, or from the end', async (hand) => {
  const page = await stage.browser.open(`/runs/${show.completed}`);
  const dialog = page.getByRole('dialog');
  const from = dialog.getByRole('combobox', { name: 'From' });
  const fork = page.getByRole('button', { name: 'Fork', exact: true });
  const rows = dialog.locator('tr[data-action]');
  await hand.press(fork);
  await becomes(() => from.inputValue(), '');
  await rows.first().waitFor();
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });

  await page.getByRole('button', { name: /^pay succeeded/ }).click();
  await page.waitForURL('**step=pay');
  await hand.press(fork);
  await becomes(() => from.inputValue(), 'step:pay');
  await dialog.locator('tr[data-step=pay]').getByText('it was chosen').waitFor();
  // The preview has a table of steps and a table of effects.
  await becomes(
    () => dialog.getByRole('columnheader').allTextContents(),
    ['Step', 'Action', 'Because', 'Effect', 'Action', 'Because'],
  );
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  expect(new URL(page.url()).search).toBe('?step=pay');
});

test.each([
  ['of a map', 'check-line[0]', 'step:check-line'],
  ['that the plan does not have', 'nowhere', ''],
])(
  'a fork is proposed from the step of a selected item %s, if the plan has it',
  async (_, selected, word) => {
    const page = await stage.browser.open(`/runs/${show.completed}?step=${encodeURIComponent(selected)}`);
    await page.locator('[data-step]').first().waitFor();
    await page.getByRole('button', { name: 'Fork', exact: true }).click();
    await becomes(() => page.getByRole('combobox', { name: 'From' }).inputValue(), word);
  },
);
