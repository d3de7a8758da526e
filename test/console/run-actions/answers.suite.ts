/** Forms of a run that the API refuses, or the role does not allow. On the stage of `flows.test.ts`. */
import { expect, test } from '@jest/globals';
import { eventually } from '../../system/support.ts';
import { show, stage } from '../one-stage/showcase-stage.ts';
import { becomes } from '../support/becomes.ts';

/** Starts a run whose first step is an approval with data. */
async function askForRefund(order: string): Promise<string> {
  const body = { type: 'refund', input: { order } };
  const { runId } = await stage.cloud.call<{ runId: string }>('POST', '/v1/runs', body);
  await eventually(`the question of ${runId}`, async () => {
    const { status } = await stage.cloud.call<{ status: string }>('GET', `/v1/runs/${runId}`);
    return status === 'awaiting_approval' || undefined;
  });
  return runId;
}

test('refused data of an approval is reported at its field', async () => {
  const runId = await askForRefund('R-1');
  const page = await stage.browser.open(`/runs/${runId}`);
  await page.getByRole('button', { name: 'Answer agree' }).click();
  const dialog = page.getByRole('dialog');
  const cents = dialog.getByRole('textbox', { name: 'cents' });
  await cents.fill('-5');
  await dialog.getByRole('combobox', { name: 'reason' }).selectOption('late');
  await dialog.getByRole('button', { name: 'Approve', exact: true }).click();
  await dialog.getByRole('alert').getByText('Correct the data.').waitFor();
  expect(await cents.getAttribute('aria-invalid')).toBe('true');
  await dialog.getByText('Too small: expected number to be >0', { exact: true }).waitFor();
  await cents.fill('5');
  await becomes(() => cents.getAttribute('aria-invalid'), 'false');
  await dialog.getByRole('button', { name: 'Approve', exact: true }).click();
  await page.locator('.run-status [data-status=completed]').waitFor();
});

test('a question before any step does not offer to send steps back', async () => {
  const runId = await askForRefund('R-2');
  const page = await stage.browser.open(`/runs/${runId}`);
  const sendBack = page.getByRole('dialog').getByRole('radio', { name: 'Send back' });
  await page.locator('.step-box', { hasText: 'agree' }).waitFor();
  await page.getByRole('button', { name: 'Answer agree' }).click();
  await page.getByRole('dialog').getByRole('radio', { name: 'Reject' }).waitFor();
  expect(await sendBack.count()).toBe(0);
  await page.goto(new URL(`/runs/${show.asking}`, page.url()).href);
  await page.locator('.step-box', { hasText: 'approve' }).waitFor();
  await page.getByRole('button', { name: 'Answer approve' }).click();
  await sendBack.waitFor();
  await page.keyboard.press('Escape');
  await stage.cloud.call('POST', `/v1/runs/${runId}/cancel`, { reason: 'only a test' });
});

test('the address of a form shows *Not allowed* if the role does not allow the form', async () => {
  const viewer = { name: 'a viewer', role: 'viewer' };
  const { secret } = await stage.cloud.call<{ secret: string }>('POST', '/v1/clients', viewer);
  const page = await stage.browser.open('/runs');
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByLabel('API key').fill(secret);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.locator('.who').waitFor();
  await page.goto(new URL(`/runs/${show.asking}?do=cancel`, page.url()).href);
  const dialog = page.getByRole('dialog', { name: 'Not allowed' });
  await dialog.getByText('This requires the role operator. Yours is viewer.').waitFor();
  await dialog.getByRole('button', { name: 'Close' }).last().click();
  await dialog.waitFor({ state: 'detached' });
  expect(new URL(page.url()).search).toBe('');
});
