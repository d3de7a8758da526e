/** Example values in the form that starts a run, on the stage of `flows.test.ts`. */
import { expect, test } from '@jest/globals';
import { SIZES } from '../support/sizes.ts';
import { stage } from './showcase-stage.ts';

test.each(Object.entries(SIZES))(
  '%s: empty fields show an example of their schema; a click fills it in, and the API accepts it',
  async (_, viewport) => {
    const page = await stage.browser.open('/workflows/gift', { viewport });
    await page.getByRole('button', { name: 'Start a run' }).click();
    const dialog = page.getByRole('dialog');
    const to = dialog.getByRole('textbox', { name: 'to' });
    await to.waitFor();
    expect([await to.inputValue(), await to.getAttribute('placeholder')]).toEqual(['', 'ada@example.com']);
    await dialog.getByRole('textbox', { name: 'cents' }).fill('300');
    await dialog.getByRole('button', { name: 'Fill in examples' }).click();
    expect(await to.inputValue()).toBe('ada@example.com');
    expect(await dialog.getByRole('textbox', { name: 'cents' }).inputValue()).toBe('300');
    await dialog.getByRole('button', { name: 'Start', exact: true }).click();
    await page.waitForURL('**/runs/run_*');
  },
);

test('the example input of the shipped review is accepted by the API', async () => {
  const page = await stage.browser.open('/workflows/review-pull-request');
  await page.getByRole('button', { name: 'Start a run' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'JSON', exact: true }).click();
  await dialog.getByRole('button', { name: 'Replace by an example' }).click();
  const example = JSON.parse(await dialog.getByRole('textbox', { name: 'Input' }).inputValue());
  expect(example).toHaveProperty('pull_request');
  await dialog.getByRole('button', { name: 'Start', exact: true }).click();
  await page.waitForURL('**/runs/run_*');
});
