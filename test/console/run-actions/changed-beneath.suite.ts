/** A form that is open while the page beneath it is read anew. */
import { expect, test } from '@jest/globals';
import { stage } from '../one-stage/showcase-stage.ts';

test('the form of a pause stays what a person has opened, while somebody else pauses the workflow', async () => {
  const page = await stage.browser.open('/workflows/chain-10');
  const press = (name: string) => page.getByRole('button', { name, exact: true }).click();
  const dialog = page.getByRole('dialog');
  const send = (verb: string) => dialog.getByRole('button', { name: verb, exact: true });
  await press('Pause');
  await stage.cloud.call('POST', '/v1/workflows/chain-10/pause', { reason: 'was faster' });
  // As when the page comes into sight again, which reads it anew.
  await page.evaluate('window.dispatchEvent(new Event("visibilitychange"))');
  await page.getByText('was faster').waitFor();
  expect([await send('Pause').count(), await send('Unpause').count()]).toEqual([1, 0]);
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  await press('Unpause');
  await send('Unpause').click();
  await page.getByText('was faster').waitFor({ state: 'detached' });
});
