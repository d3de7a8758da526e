/** The search: several runs by one name, and none. */
import { expect, test } from '@jest/globals';
import { becomes } from '../support/becomes.ts';
import type { Stage } from '../support/stage.ts';

export function searchOfRuns(stage: Stage): void {
  test('several runs with one name are listed; a search without results says what can be searched for', async () => {
    const body = { type: 'chain-10', input: {}, threadId: 'thread-of-two' };
    const start = async () => (await stage.cloud.call<{ runId: string }>('POST', '/v1/runs', body)).runId;
    const ids = [await start(), await start()];
    const page = await stage.browser.open('/runs?q=thread-of-two');
    for (const id of ids) await page.getByText(id).waitFor();
    await becomes(() => page.getByText('its thread', { exact: true }).count(), 2);

    await page.keyboard.press('/');
    await page.keyboard.type('<b>nobody knows this</b>');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'No run found' }).waitFor();
    await page.getByText('X-GitHub-Delivery').waitFor();
    await page.getByText('Inputs and results are not searched').waitFor();
    expect(new URL(page.url()).searchParams.get('q')).toBe('<b>nobody knows this</b>');
    await page.locator('main').getByText('<b>nobody knows this</b>').waitFor();

    // The runs of a workflow are not found by a part of its name, but a link leads to them.
    await page.keyboard.press('/');
    await page.keyboard.press('ControlOrMeta+a');
    await page.keyboard.type('chain-1');
    await page.keyboard.press('Enter');
    const named = page.getByText('A workflow has this in its name. See the runs of');
    await named.getByRole('link', { name: 'chain-10', exact: true }).waitFor();
    await page.getByRole('heading', { name: 'No run found', level: 1 }).waitFor();

    await page.keyboard.press('/');
    await page.keyboard.press('ControlOrMeta+a');
    await page.keyboard.type('thread-of-t');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/runs?q=thread-of-t');
    await page.getByRole('link', { name: 'Look for it at the beginning of ids' }).click();
    await page.waitForURL('**/runs?match=thread-of-t');
    for (const id of ids) await page.locator(`#row-${id}`).waitFor();
  });
}
