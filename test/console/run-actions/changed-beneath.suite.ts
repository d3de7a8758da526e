/** A form that is open while the page below it is reread. */
import { expect, test } from '@jest/globals';
import { eventually } from '../../system/support.ts';
import { stage } from '../one-stage/showcase-stage.ts';
import { becomes } from '../support/becomes.ts';

test('the form *Pause* does not become *Unpause* while open, when somebody else pauses the workflow', async () => {
  const page = await stage.browser.open('/workflows/chain-10');
  const press = (name: string) => page.getByRole('button', { name, exact: true }).click();
  const dialog = page.getByRole('dialog');
  const send = (verb: string) => dialog.getByRole('button', { name: verb, exact: true });
  await press('Pause');
  await stage.cloud.call('POST', '/v1/workflows/chain-10/pause', { reason: 'was faster' });
  // The page rereads when it becomes visible, unless it was just read.
  const isTold = async () => {
    await page.evaluate('window.dispatchEvent(new Event("visibilitychange"))');
    return page.getByText('was faster').isVisible();
  };
  await becomes(isTold, true);
  expect([await send('Pause').count(), await send('Unpause').count()]).toEqual([1, 0]);
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  await press('Unpause');
  await send('Unpause').click();
  await page.getByText('was faster').waitFor({ state: 'detached' });
});

const isFirstPage = ({ pathname, searchParams }: URL) =>
  pathname === '/v1/inbox' && !searchParams.has('cursor');

test.each([
  ['the inbox', 'Fill in and answer'],
  ['an inbox with more pages', 'Fill in and answer'],
  ['its run', 'Answer agree'],
])(
  'a long form of %s shows beside its button that somebody else has answered the question',
  async (place, opener) => {
    const body = { type: 'refund', input: { order: `meanwhile ${place}` } };
    const { runId } = await stage.cloud.call<{ runId: string }>('POST', '/v1/runs', body);
    await eventually(`the question of ${runId}`, async () => {
      const { status } = await stage.cloud.call<{ status: string }>('GET', `/v1/runs/${runId}`);
      return status === 'awaiting_approval' || undefined;
    });
    const isInbox = place !== 'its run';
    const hasMore = place === 'an inbox with more pages';
    const page = await stage.browser.open(isInbox ? '/inbox' : `/runs/${runId}`, {
      prepare: async (one) => {
        await one.clock.install();
        // The question may be on a page that is not loaded.
        if (hasMore)
          await one.route(isFirstPage, async (route) => {
            const answer = (await (await route.fetch()).json()) as object;
            await route.fulfill({ json: { next: 'more', ...answer } });
          });
      },
      viewport: { width: 1280, height: 480 },
    });
    if (hasMore) await page.getByText(/^\d+\+ open$/).waitFor();
    const part = isInbox ? page.locator('li.card', { hasText: runId }) : page;
    await part.getByRole('button', { name: opener }).click();
    const dialog = page.getByRole('dialog');
    const send = dialog.getByRole('button', { name: 'Approve', exact: true });
    await dialog.getByRole('textbox', { name: 'cents' }).fill('5');
    await dialog.getByRole('combobox', { name: 'reason' }).selectOption('late');
    await becomes(() => send.isEnabled(), true);
    await stage.cloud.call('POST', `/v1/runs/${runId}/approvals/agree`, { decision: 'reject' });
    const why = dialog.getByText('it was answered, its time is over, or the run has ended');
    await becomes(async () => {
      await page.clock.runFor('00:05');
      return why.isVisible();
    }, true);
    const isInSight = await why.evaluate((one) => {
      const { left, top, width, height } = one.getBoundingClientRect();
      return one.contains(document.elementFromPoint(left + width / 2, top + height / 2));
    });
    expect([isInSight, await send.isDisabled()]).toEqual([true, true]);
    expect(await dialog.getByRole('textbox', { name: 'cents' }).inputValue()).toBe('5');
  },
);

test('a form that got no answer cannot be sent again after its run has ended', async () => {
  const body = { type: 'refund', input: { order: 'no answer' } };
  const { runId } = await stage.cloud.call<{ runId: string }>('POST', '/v1/runs', body);
  const page = await stage.browser.open(`/runs/${runId}`);
  const dialog = page.getByRole('dialog');
  const cancel = `**/v1/runs/${runId}/cancel`;
  await page.getByRole('button', { name: 'Cancel', exact: true }).click();
  await page.route(cancel, (route) => route.abort());
  await dialog.getByRole('button', { name: 'Cancel the run' }).click();
  await dialog.getByText('The API responds again. Send the form once more; it takes effect once.').waitFor();
  await stage.cloud.call('POST', `/v1/runs/${runId}/cancel`, { reason: 'by another' });
  await dialog.getByText('The run has ended: it is cancelled.').waitFor();
  await dialog.getByText('It is not known whether the form was carried out.').waitFor();
  expect(await dialog.getByText('once more').count()).toBe(0);
});

test('the form of an action in doubt says that somebody else has resolved it', async () => {
  const body = { type: 'pay-invoice', input: { invoice: 'D-1', text: 'in doubt' } };
  const { runId } = await stage.cloud.call<{ runId: string }>('POST', '/v1/runs', body);
  const hasWait = (holds: (wait: { purpose?: string; kind?: string }) => boolean) =>
    eventually(`the question of ${runId}`, async () => {
      const { waits } = await stage.cloud.call<{ waits: { purpose?: string }[] }>('GET', `/v1/runs/${runId}`);
      return waits.some(holds) || undefined;
    });
  await hasWait(() => true);
  await stage.cloud.call('POST', `/v1/runs/${runId}/approvals/approve`, { decision: 'approve' });
  await hasWait(({ purpose }) => purpose === 'effect');
  const page = await stage.browser.open(`/runs/${runId}`);
  const dialog = page.getByRole('dialog');
  await page.getByRole('button', { name: /^Resolve the action/ }).click();
  await dialog.getByLabel('Result, as JSON').fill('{"receipt": "by phone"}');
  await dialog.getByRole('textbox', { name: /^Note/ }).fill('they say yes');
  const send = dialog.getByRole('button', { name: 'Record the result' });
  await becomes(() => send.isEnabled(), true);
  const { items } = await stage.cloud.call<{ items: { effectId: string }[] }>(
    'GET',
    `/v1/runs/${runId}/effects`,
  );
  const effect = encodeURIComponent(items[0]?.effectId ?? '');
  await stage.cloud.call('POST', `/v1/runs/${runId}/effects/${effect}/resolve`, { outcome: 're-execute' });
  await dialog.getByText('The question is not open any more').waitFor();
  expect(await send.isDisabled()).toBe(true);
  expect(await dialog.getByRole('textbox', { name: /^Note/ }).inputValue()).toBe('they say yes');
});

test('the form of an effect without a run says that somebody else has resolved it, also of the last one', async () => {
  const owner = 'external:default:report-7';
  const asking = {
    owner,
    effectId: 'made-up',
    key: 'report-7',
    question: 'Was the report sent?',
    blockedBy: 'doubt',
    createdAt: '2026-01-01T00:00:00.000Z',
  };
  let external = [asking];
  const page = await stage.browser.open('/inbox', {
    prepare: async (one) => {
      await one.clock.install();
      await one.route(
        ({ pathname }) => pathname === '/v1/inbox',
        async (route) => {
          const answer = await route.fetch();
          await route.fulfill({ response: answer, json: { ...(await answer.json()), external } });
        },
      );
    },
  });
  const section = page.getByRole('region', { name: 'Effects without a run' });
  await section.getByRole('button', { name: 'Resolve' }).click();
  const dialog = page.getByRole('dialog');
  const note = dialog.getByRole('textbox', { name: /^Note/ });
  await note.fill('they say yes');
  external = [];
  await becomes(async () => {
    await page.clock.runFor('00:05');
    return dialog.getByText('The question is not open any more').isVisible();
  }, true);
  expect(await note.inputValue()).toBe('they say yes');
  await page.keyboard.press('Escape');
  await dialog.getByText('Escape once more discards it.').waitFor();
  await page.keyboard.press('Escape');
  await section.waitFor({ state: 'detached' });
});
