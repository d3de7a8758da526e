import { expect, test } from '@jest/globals';
import { UNDO_MS } from '../../packages/console/src/pages/inbox/approval-queue.ts';
import { eventually } from '../system/support.ts';
import { type Holding, holdTimers } from './support/hold-timers.ts';
// The tests of these suites run first, over the same cloud and browser.
import './one-stage/agreement.suite.ts';
import './one-stage/closed-forms.suite.ts';
import './one-stage/end-of-run.suite.ts';
import './one-stage/example-input.suite.ts';
import './one-stage/focus.suite.ts';
import './one-stage/history.suite.ts';
import './one-stage/in-sight.suite.ts';
import './one-stage/kept-forms.suite.ts';
import './one-stage/live-runs.suite.ts';
import './one-stage/own-range.suite.ts';
import './one-stage/refused-parts.suite.ts';
import './one-stage/still-inbox.suite.ts';
import './one-stage/wide-graph.suite.ts';
import './one-stage/words.suite.ts';
import './one-stage/flows.suite.ts';
import './run-actions/answers.suite.ts';
import './run-actions/budgets.suite.ts';
import './run-actions/changed-beneath.suite.ts';
import './run-actions/insecure-origin.suite.ts';
import './run-actions/selected-step.suite.ts';
import { show, stage } from './one-stage/showcase-stage.ts';

/** Opens a page with animations, as most people have it. */
const MOVING = { reducedMotion: 'no-preference' } as const;

test('the card of an approval has the buttons Approve and Reject, and only Reject if the approval needs data', async () => {
  const page = await stage.browser.open('/inbox', MOVING);
  const card = page.locator('li.card', { has: page.locator(`a[href="/runs/${show.asking}"]`) });
  await card.getByRole('button', { name: 'Approve', exact: true }).waitFor();
  await card.getByRole('button', { name: 'Reject', exact: true }).click();
  const dialog = page.getByRole('dialog');
  await dialog
    .getByRole('radio', { name: /^Reject/ })
    .and(page.locator(':checked'))
    .waitFor();
  await page.keyboard.press('Escape');
  const { status } = await stage.cloud.call<{ status: string }>('GET', `/v1/runs/${show.asking}`);
  expect(status).toBe('awaiting_approval');
});

test('an approval is reported as not given if another tab rejected it first', async () => {
  const { runId } = await stage.cloud.call<{ runId: string }>('POST', '/v1/runs', {
    type: 'pay-invoice',
    input: { invoice: 'T-1', text: 'for two' },
  });
  const open = () =>
    stage.browser.open('/inbox', { ...MOVING, prepare: (one) => one.addInitScript(holdTimers, UNDO_MS) });
  const [slow, fast] = [await open(), await open()];
  const cardOf = (page: typeof slow) =>
    page.locator('li.card', { has: page.locator(`a[href="/runs/${runId}"]`) });
  await cardOf(slow).getByRole('button', { name: 'Approve', exact: true }).click();
  await cardOf(fast).getByRole('button', { name: 'Reject', exact: true }).click();
  await fast.getByRole('dialog').getByRole('button', { name: 'Reject', exact: true }).click();
  await cardOf(fast).waitFor({ state: 'detached' });
  await slow.evaluate(() => {
    for (const call of (globalThis as unknown as Holding).held.splice(0)) call();
  });
  const alert = slow.getByRole('alert').filter({ hasText: 'Not approved' });
  await alert.filter({ hasText: 'Pay T-1?' }).waitFor();
  await alert.getByRole('button', { name: 'Dismiss' }).click();
  await alert.waitFor({ state: 'detached' });
});

test('a refused approval is reported on the open page if it was sent when leaving the inbox', async () => {
  const { runId } = await stage.cloud.call<{ runId: string }>('POST', '/v1/runs', {
    type: 'pay-invoice',
    input: { invoice: 'T-3', text: 'on leaving' },
  });
  const page = await stage.browser.open('/inbox', {
    ...MOVING,
    prepare: (one) => one.addInitScript(holdTimers, UNDO_MS),
  });
  const card = page.locator('li.card', { has: page.locator(`a[href="/runs/${runId}"]`) });
  await card.getByRole('button', { name: 'Approve', exact: true }).click();
  await card.getByRole('button', { name: 'Undo' }).waitFor();
  await stage.cloud.call('POST', `/v1/runs/${runId}/approvals/approve`, { decision: 'reject' });
  await page.getByRole('link', { name: 'Schedules', exact: true }).click();
  const alert = page.getByRole('alert').filter({ hasText: 'Not approved' });
  await alert.filter({ hasText: 'Pay T-3? on leaving' }).waitFor();
  expect(new URL(page.url()).pathname).toBe('/schedules');
  await alert.getByRole('link', { name: 'pay-invoice' }).click();
  await page.waitForURL(`**/runs/${runId}`);
  await alert.getByRole('button', { name: 'Dismiss' }).click();
  await alert.waitFor({ state: 'detached' });
});

test('a form says that its run has ended or its question is answered, and keeps the typed text', async () => {
  const { runId } = await stage.cloud.call<{ runId: string }>('POST', '/v1/runs', {
    type: 'pay-invoice',
    input: { invoice: 'T-2', text: 'for one' },
  });
  const [answers, cancels] = [
    await stage.browser.open(`/runs/${runId}`, MOVING),
    await stage.browser.open(`/runs/${runId}`, MOVING),
  ];
  await answers.getByRole('button', { name: 'Answer approve' }).first().click();
  await answers.getByRole('textbox', { name: /^Note/ }).fill('looks right');
  await cancels.getByRole('button', { name: 'Cancel', exact: true }).click();
  await cancels.getByRole('textbox', { name: /^Reason/ }).fill('too late');
  await stage.cloud.call('POST', `/v1/runs/${runId}/cancel`, { reason: 'by another' });
  await answers
    .getByRole('dialog')
    .getByText('it was answered, its time is over, or the run has ended')
    .waitFor();
  await cancels.getByRole('dialog').getByText('The run has ended: it is cancelled.').waitFor();
  expect(await answers.getByRole('textbox', { name: /^Note/ }).inputValue()).toBe('looks right');
  expect(await cancels.getByRole('textbox', { name: /^Reason/ }).inputValue()).toBe('too late');
  const send = cancels.getByRole('dialog').getByRole('button', { name: 'Cancel the run' });
  expect(await send.isDisabled()).toBe(true);
});

test('a choice of workflows does not load their definitions', async () => {
  const requests: string[] = [];
  const page = await stage.browser.open('/runs', {
    ...MOVING,
    prepare: async (one) => {
      one.on('request', (request) => {
        const { pathname, search } = new URL(request.url());
        if (pathname === '/v1/workflows') requests.push(search);
      });
    },
  });
  await page.getByRole('button', { name: 'Start a run' }).click();
  await page.getByRole('dialog').getByRole('combobox').first().selectOption('pay-invoice');
  await page.getByRole('dialog').getByRole('textbox', { name: 'invoice' }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByLabel('Workflow').selectOption('pay-invoice');
  expect([...new Set(requests)]).toEqual(['?summary=true']);
});

test('an approval with data shows who is asked and all errors, and is given with its form', async () => {
  const started = await stage.cloud.call<{ runId: string }>('POST', '/v1/runs', {
    type: 'refund',
    input: { order: 'B-1' },
  });
  const page = await stage.browser.open('/inbox', MOVING);
  const card = page.locator('li.card', { has: page.locator(`a[href="/runs/${started.runId}"]`) });
  await card.getByText('Refund B-1?').waitFor();
  await card.getByText('Finance, Bo').waitFor();
  expect(await card.getByRole('button', { name: 'Approve', exact: true }).count()).toBe(0);
  await card.getByRole('button', { name: 'Fill in and answer' }).click();
  const dialog = page.getByRole('dialog');
  const send = dialog.getByRole('button', { name: 'Approve', exact: true });
  await dialog.getByRole('status').filter({ hasText: 'cents is required; reason is required' }).waitFor();
  expect(await send.isDisabled()).toBe(true);
  await dialog.getByRole('textbox', { name: 'cents' }).fill('-4');
  await dialog.getByRole('combobox', { name: 'reason' }).selectOption('late');
  await send.click();
  // The API refuses a value by a rule that the form does not know, and the form stays open.
  await dialog.getByText('data.cents', { exact: false }).first().waitFor();
  await dialog.getByRole('textbox', { name: 'cents' }).fill('400');
  await send.click();
  await card.waitFor({ state: 'detached' });
  const ended = await eventually(`the end of ${started.runId}`, async () => {
    const run = await stage.cloud.call<{ status: string; result?: unknown }>(
      'GET',
      `/v1/runs/${started.runId}`,
    );
    return run.status === 'completed' ? run : undefined;
  });
  expect(ended.result).toEqual({ refunded: { cents: 400, reason: 'late' } });
});

test('runs are found by a name prefix and sorted by clicks, and the list says that it is not live', async () => {
  const page = await stage.browser.open('/runs', MOVING);
  await page.locator('.list-live', { hasText: '● Updates live' }).waitFor();
  await page.getByRole('textbox', { name: 'Tag' }).fill('INVOICE-A-4');
  await page.locator(`#row-${show.failed}`).waitFor();
  await page.getByText('Not updated live').waitFor();
  await page.locator(`#row-${show.completed}`).waitFor({ state: 'detached' });
  await page.getByRole('textbox', { name: 'Tag' }).fill('invoice-A');
  await page.locator(`#row-${show.completed}`).waitFor();
  const order = () => page.locator('[id^=row-]').evaluateAll((rows) => rows.map(({ id }) => id));
  const newestFirst = await order();
  await page.getByText('View', { exact: true }).click();
  await page.getByRole('combobox', { name: 'Sort' }).selectOption('oldest first');
  await page.waitForURL('**sort=oldest**');
  // Both orders sort runs of the same millisecond by id, so reversing the list would be wrong.
  const { items } = await stage.cloud.call<{ items: readonly { id: string }[] }>(
    'GET',
    '/v1/runs?match=invoice-A&sort=oldest',
  );
  const oldestFirst = items.map(({ id }) => `row-${id}`).filter((row) => newestFirst.includes(row));
  expect(oldestFirst).not.toEqual(newestFirst);
  await eventually('the other order', async () =>
    (await order()).join() === oldestFirst.join() ? true : undefined,
  );
  expect(oldestFirst.toSorted()).toEqual(newestFirst.toSorted());
  await page.getByRole('button', { name: 'Show all' }).click();
  await page.locator('.list-live', { hasText: '● Updates live' }).waitFor();
});
