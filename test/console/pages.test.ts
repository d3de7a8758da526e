import { beforeAll, describe, expect, test } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { UNDO_MS } from '../../packages/console/src/pages/inbox/approval-queue.ts';
import { eventually } from '../system/support.ts';
import { becomes } from './support/becomes.ts';
import type { Opening } from './support/browser.ts';
import { type Holding, holdTimers } from './support/hold-timers.ts';
import { fromYesterday } from './support/midnight.ts';
import { makeShowcase, type Showcase } from './support/showcase.ts';
import { setStage } from './support/stage.ts';

const stage = setStage({ fixture: 'showcase.ts' });
let show: Showcase;
beforeAll(async () => {
  show = await makeShowcase(stage.cloud, 'for the office');
});

const open = (path: string, opening: Opening = {}): Promise<Page> =>
  stage.browser.open(path, { timezoneId: 'UTC', ...opening });

const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click();
const dialog = (page: Page) => page.getByRole('dialog');
const send = (page: Page, verb: string) => dialog(page).getByRole('button', { name: verb, exact: true });
const isGone = (page: Page) => dialog(page).waitFor({ state: 'detached' });
const pathOf = (page: Page) => new URL(page.url()).pathname;
const has = (shown: Locator, text: string | RegExp) => shown.filter({ hasText: text }).waitFor();

describe('the inbox', () => {
  test('moves between questions by keyboard; an answered question leaves the list and the count in the navigation', async () => {
    const page = await open('/inbox');
    const questions = page.locator('.inbox > li');
    const count = page.getByRole('navigation').locator('.count');
    const asked = questions.filter({ hasText: 'Pay A-1? for the office' });
    await asked.waitFor();
    // The list also has the questions of other tests.
    const most = await questions.count();
    await has(count, String(most));
    const buttons = page.getByRole('button', { name: 'Answer' });
    const focused = () => buttons.evaluateAll((all) => all.indexOf(document.activeElement as HTMLElement));
    const down = Array.from({ length: most + 1 }, (_, at) => ['j', Math.min(at, most - 1)] as const);
    const up = Array.from(
      { length: most },
      (_, at) => [at % 2 === 0 ? 'k' : 'ArrowUp', Math.max(most - 2 - at, 0)] as const,
    );
    const all = await questions.allTextContents();
    const again = all.slice(
      0,
      all.findIndex((text) => text.includes('Pay A-1? for the office')),
    );
    for (const [key, at] of [...down, ...up, ...again.map((_, at) => ['j', at + 1] as const)]) {
      await page.keyboard.press(key);
      await becomes(focused, at);
    }

    await page.keyboard.press('Enter');
    await dialog(page).getByText('Pay A-1?').waitFor();
    await dialog(page).getByRole('radio', { name: 'Reject' }).check();
    await dialog(page).getByLabel('Note (optional)').fill('paid last week');
    await send(page, 'Reject').click();
    await isGone(page);
    await has(page.getByRole('status'), 'approve in pay-invoice: Rejected. The step fails');
    await has(count, String(most - 1));
    await asked.waitFor({ state: 'detached' });
    const run = await eventually('the run to fail', async () => {
      const { status } = await stage.cloud.call<{ status: string }>('GET', `/v1/runs/${show.asking}`);
      return status === 'failed' || undefined;
    });
    expect(run).toBe(true);
  });

  test('approves several with one click, and undoes it with another', async () => {
    const start = async (invoice: string) => {
      const input = { invoice, text: 'by click' };
      const body = { type: 'pay-invoice', input };
      const { runId } = await stage.cloud.call<{ runId: string }>('POST', '/v1/runs', body);
      await eventually('the run to ask', async () => {
        const { status } = await stage.cloud.call<{ status: string }>('GET', `/v1/runs/${runId}`);
        return status === 'awaiting_approval' || undefined;
      });
      return runId;
    };
    const ids = [await start('B-1'), await start('B-2')];
    const page = await open('/inbox', { prepare: (one) => one.addInitScript(holdTimers, UNDO_MS) });
    // The cards of side effects contain the same text.
    const approvals = page.locator('.inbox > li').filter({ hasText: 'Approval' });
    const cards = approvals.filter({ hasText: 'by click' });
    for (const id of ids)
      await page
        .locator('.inbox')
        .getByRole('checkbox', { name: new RegExp(id) })
        .check();
    await press(page, 'Approve selected');
    const undo = cards.first().getByRole('button', { name: 'Undo' });
    await undo.waitFor();
    // The page has other timers of this length too, so the test only checks that one of them holds the approval.
    expect(await page.evaluate(() => (globalThis as unknown as Holding).held.length)).toBeGreaterThan(0);
    await undo.click();
    await cards.nth(1).getByRole('button', { name: 'Approve', exact: true }).waitFor();
    await page.evaluate(() => {
      for (const call of (globalThis as unknown as Holding).held.splice(0)) call();
    });
    for (const id of ids)
      expect(await stage.cloud.call('GET', `/v1/runs/${id}`)).toMatchObject({ status: 'awaiting_approval' });
    for (const at of [0, 1]) {
      await cards.nth(at).getByRole('button', { name: 'Approve', exact: true }).click();
      await cards.nth(at).getByRole('button', { name: 'Undo' }).waitFor();
    }
    await page.evaluate(() => {
      for (const call of (globalThis as unknown as Holding).held.splice(0)) call();
    });
    for (const id of ids)
      await eventually('the approved run to complete', async () => {
        const { status } = await stage.cloud.call<{ status: string }>('GET', `/v1/runs/${id}`);
        return status === 'completed' || undefined;
      });
    await page.mouse.move(0, 0);
    await cards.first().waitFor({ state: 'detached' });
  });

  test('resolves a side effect in doubt in place', async () => {
    const page = await open('/inbox');
    const doubtful = page
      .locator('.inbox > li')
      .filter({ hasText: 'Side effect in doubt' })
      .filter({ has: page.locator(`a[href*="${show.doubtful}"]`) });
    const answer = doubtful.getByRole('button', { name: 'Answer' });
    await answer.waitFor();
    // The card shows the request, because the id of an effect says nothing to a person.
    await doubtful.getByText('"A-2"').waitFor();
    const shown = await doubtful.textContent();
    expect(shown).toMatch(/called (just now|\d+ ?[smh] ago), asked/);
    for (const machine of [/[0-9a-f]{64}/, /\d{4}-\d\d-\d\dT/, /\(recorded\)|re-execute/])
      expect(shown).not.toMatch(machine);
    const before = await page.locator('.inbox > li').count();
    await answer.click();
    await dialog(page).getByText('"A-2"').waitFor();
    await dialog(page).getByLabel('Result, as JSON').fill('{"receipt": ');
    expect(await send(page, 'Record the result').isDisabled()).toBe(true);
    await dialog(page).getByLabel('Result, as JSON').fill('{"receipt": "found in the ledger"}');
    await send(page, 'Record the result').click();
    await isGone(page);
    const answered = page.getByRole('status').filter({ hasText: 'pay in pay-invoice: Recorded.' });
    await answered.getByRole('button', { name: 'Dismiss' }).click();
    await answered.waitFor({ state: 'detached' });
    await has(page.getByRole('navigation').locator('.count'), String(before - 1));
    await doubtful.waitFor({ state: 'detached' });
    await eventually('the run to complete', async () => {
      const { status } = await stage.cloud.call<{ status: string }>('GET', `/v1/runs/${show.doubtful}`);
      return status === 'completed' || undefined;
    });
  });
});

describe('a workflow', () => {
  test('is paused with a visible reason, and resumed', async () => {
    const page = await open('/workflows');
    await page.getByRole('link', { name: 'chain-10' }).click();
    await press(page, 'Pause');
    await dialog(page).getByLabel('Reason (optional)').fill('the labels are wrong');
    await send(page, 'Pause').click();
    await isGone(page);
    await has(page.getByRole('status'), 'the labels are wrong');
    await press(page, 'Unpause');
    await send(page, 'Unpause').click();
    await isGone(page);
    await page.getByRole('button', { name: 'Pause', exact: true }).waitFor();
    await page.getByText('the labels are wrong').waitFor({ state: 'detached' });
  });

  test('is started with a JSON input, and opens the run', async () => {
    const page = await open('/workflows/chain-10');
    await press(page, 'Start a run');
    await dialog(page).getByLabel('Input').fill('{"a": ');
    await dialog(page).getByText('No JSON, line 1').waitFor();
    expect(await send(page, 'Start').isDisabled()).toBe(true);
    await dialog(page).getByLabel('Input').fill('{}');
    await dialog(page).getByLabel('Thread').fill('by-hand');
    await send(page, 'Start').click();
    await page.waitForURL('**/runs/*');
    const { type, threadId } = await stage.cloud.call<{ type: string; threadId: string }>(
      'GET',
      `/v1${pathOf(page)}`,
    );
    expect({ type, threadId }).toEqual({ type: 'chain-10', threadId: 'by-hand' });
  });

  test('is started from the list of runs with a form of its schema, which shows all issues at once', async () => {
    const page = await open('/runs');
    await press(page, 'Start a run');
    await dialog(page).getByLabel('Workflow').selectOption('pay-invoice');
    const fields = dialog(page).getByRole('group', { name: 'Input', exact: true });
    await fields.getByLabel('invoice').waitFor();
    const issues = dialog(page).getByRole('status');
    await has(issues, 'invoice is required');
    await has(issues, 'text is required');
    expect(await send(page, 'Start').isDisabled()).toBe(true);
    await fields.getByLabel('invoice').fill('A-9');
    await fields.getByLabel('text').fill('by form');
    await send(page, 'Start').click();
    await page.waitForURL('**/runs/run_*');
    const { input } = await stage.cloud.call<{ input: object }>('GET', `/v1${pathOf(page)}`);
    expect(input).toMatchObject({ invoice: 'A-9', text: 'by form' });

    await press(page, 'Run again');
    await dialog(page).getByRole('group', { name: 'Input', exact: true }).waitFor();
    expect(await dialog(page).getByLabel('invoice').inputValue()).toBe('A-9');
    await dialog(page).getByRole('button', { name: 'Close' }).first().click();
    await stage.cloud.call('POST', `/v1${pathOf(page)}/cancel`, { reason: 'only a test' });
  });

  test('is stopped with all others only after typed confirmation, and all resume', async () => {
    const page = await open('/workflows');
    try {
      await press(page, 'Turn the kill switch on');
      const words = dialog(page).getByRole('textbox');
      await words.fill('stop');
      expect(await send(page, 'Turn the kill switch on').isDisabled()).toBe(true);
      await words.fill('kill switch');
      await send(page, 'Turn the kill switch on').click();
      await isGone(page);
      await page.getByText('The kill switch is on.').waitFor();
      await press(page, 'Turn the kill switch off');
      await send(page, 'Turn the kill switch off').click();
      await isGone(page);
      await page.getByRole('button', { name: 'Turn the kill switch on' }).waitFor();
    } finally {
      await stage.cloud.call('PUT', '/v1/runtime', { killSwitch: false });
    }
  });
});

test('a schedule is created, backfilled after its slots are counted, paused, changed and triggered', async () => {
  const page = await open('/schedules');
  await press(page, 'New schedule');
  expect(await send(page, 'Create').isDisabled()).toBe(true);
  // The input has a field for each member, as in the form that starts a run.
  await dialog(page).getByLabel('Workflow').selectOption('pay-invoice');
  await dialog(page).getByRole('button', { name: 'Fill in examples' }).click();
  expect(await dialog(page).getByRole('textbox', { name: 'invoice' }).inputValue()).not.toBe('');
  await dialog(page).getByLabel('Workflow').selectOption('chain-10');
  await dialog(page).getByLabel('Cron expression').fill('0 12 * * *');
  await dialog(page).getByLabel('Timezone').fill('UTC');
  await dialog(page).getByLabel('Name').fill('By hand');
  await send(page, 'Create').click();
  await page.getByRole('heading', { name: 'By hand' }).waitFor();
  await page
    .getByText(/\d, 12:00 UTC/)
    .first()
    .waitFor();

  const yesterday = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
  const backfill = async (counted: string) => {
    await press(page, 'Backfill');
    await dialog(page).getByLabel('From').fill(`${yesterday}T00:30`);
    await dialog(page).getByLabel('To', { exact: true }).fill(`${yesterday}T23:30`);
    await dialog(page).getByText(counted).waitFor();
  };
  for (const came of ['1 run started; 0 slots had one.', '0 runs started; 1 slot had one.']) {
    await backfill('1 slot. Slots that already have a run are skipped.');
    await send(page, 'Start 1 run').click();
    await dialog(page).getByText(came).waitFor();
    await page.keyboard.press('Escape');
    await isGone(page);
  }

  await press(page, 'Pause');
  await dialog(page).getByLabel('Reason (optional)').fill('holidays');
  await send(page, 'Pause').click();
  await isGone(page);
  await page.getByText('holidays').waitFor();
  await page.getByText('none: it is paused').waitFor();

  await press(page, 'Change');
  await dialog(page).getByText('Nothing was changed.').waitFor();
  expect(await send(page, 'Change').isDisabled()).toBe(true);
  await dialog(page).getByLabel('Name').fill('By two hands');
  await send(page, 'Change').click();
  await page.getByRole('heading', { name: 'By two hands' }).waitFor();

  await press(page, 'Trigger');
  await send(page, 'Start').click();
  await page.waitForURL('**/runs/*');
  const { type } = await stage.cloud.call<{ type: string }>('GET', `/v1${pathOf(page)}`);
  expect(type).toBe('chain-10');
});

test('health shows the numbers and what they mean', async () => {
  const page = await open('/health', { prepare: fromYesterday });
  await page.getByRole('heading', { name: /^Findings/ }).waitFor();
  const readings = page.locator('.readings').first().locator('> div');
  const names = [
    'Scan lag',
    'Tasks in all queues',
    'Leases held',
    'Schedules late',
    'Unpublished runs',
    'Operations/min',
  ];
  await becomes(
    () => readings.allTextContents(),
    names.map((name) => expect.stringMatching(new RegExp(`^${name}\\d`))),
  );
  const findings = page.locator('.findings > li');
  await findings.locator('code').getByText('RUNNING', { exact: true }).first().waitFor();
  expect(await findings.count()).toBeGreaterThan(5);
  const today = page.getByRole('region', { name: 'Runs of today' });
  await has(today.locator('.readings > div').last(), /^Cost of today\$0\.0/);
});

test('a workflow shows the outcomes of its runs over a chosen time, with failed runs grouped by cause', async () => {
  const page = await open('/workflows/pay-invoice');
  const statistics = page.getByRole('region', { name: 'Statistics' });
  await has(statistics.locator('.readings > div').nth(1), /^Failed\d+/);
  await statistics.locator('.causes tbody tr').first().waitFor();
  expect(await page.title()).toBe('pay-invoice · Workflows · Cairn');
  const hours = statistics.getByRole('list', { name: 'Runs over time' }).getByRole('listitem');
  await becomes(() => hours.count(), 24);
  await statistics.getByRole('button', { name: '7d' }).click();
  await statistics.getByRole('heading', { name: 'Runs of the last 7 days' }).waitFor();
  await page.goto('/runs?status=failed');
  await page.getByText('Failures by cause').click();
  await page.getByText(/^\d+ of \d+ runs failed/).waitFor();
  await page
    .locator('.causes')
    .getByRole('link', { name: /ago|now/ })
    .first()
    .click();
  await page.waitForURL('**/runs/run_*');
  await fromYesterday(page);
  await page.goto('/health');
  const cause = page.locator('.causes tbody tr').filter({ hasText: 'the books are closed' });
  await cause.getByRole('link', { name: /^\d+ runs?$/ }).click();
  await page.waitForURL('**/runs?**cause=STEP_FAILED%3Abook**');
  await page.locator(`#row-${show.failed}`).waitFor();
  await press(page, 'Resume all…');
  await has(dialog(page), 'by the cause STEP_FAILED at book');
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: /^Cause: STEP_FAILED at book/ }).click();
  await page.waitForURL((url) => !url.searchParams.has('cause'));
});

test('a viewer sees why controls are disabled, and navigates by keyboard', async () => {
  const { secret } = await stage.cloud.call<{ secret: string }>('POST', '/v1/clients', {
    name: 'looks',
    role: 'viewer',
  });
  const page = await open('/workflows/chain-10');
  await press(page, 'Sign out');
  await page.getByLabel('API key').fill(secret);
  await press(page, 'Sign in');
  const isRefused = async (name: string, role: string) => {
    const button = page.getByRole('button', { name, exact: true }).first();
    await button.waitFor();
    expect(await button.isDisabled()).toBe(true);
    await page.getByText(`requires the role ${role}; yours is viewer`).first().waitFor();
  };
  await isRefused('Start a run', 'submitter');
  await isRefused('Pause', 'installation');
  const go = async (letter: string, heading: string) => {
    await page.keyboard.press('g');
    await page.keyboard.press(letter);
    await page.getByRole('heading', { name: heading }).waitFor();
  };
  await go('i', 'Inbox');
  await isRefused('Answer', 'operator');
  await go('w', 'Workflows');
  await isRefused('Turn the kill switch on', 'installation');
  await go('s', 'Schedules');
  await isRefused('New schedule', 'operator');
  await page.getByRole('link', { name: 'Nightly' }).click();
  await page
    .getByText('Pause, Trigger, Backfill, Change, Delete: requires the role operator; yours is viewer')
    .waitFor();
  await go('h', 'Health');
  await page.getByText('they require the role installation; yours is viewer').waitFor();
  await go('r', 'Runs');
});

test('health shows erasures with requester and deleted counts, and a restored database until it is released', async () => {
  const { call } = stage.cloud;
  await call('POST', `/v1/runs/${show.completed}/erase`, { confirm: show.completed });
  await call('POST', '/v1/erasures', { tenantId: 'nobody', confirm: 'nobody' });
  await call('POST', '/v1/restore/begin', {});
  const page = await open('/runs');
  await page.getByRole('link', { name: 'Health', exact: true }).click();
  const erasures = page.getByRole('region', { name: 'Erasures on request' });
  const { items } = await call<{ items: { requestedBy: string }[] }>('GET', '/v1/erasures');
  await has(erasures.locator('tbody tr', { hasText: 'a run with its lineage' }), '1 lineage left');
  await has(erasures.locator('tbody tr', { hasText: 'a tenant' }), 'nothing is left');
  expect(await erasures.locator('tbody tr', { hasText: items[0]?.requestedBy ?? '' }).count()).toBe(2);
  const restore = page.getByRole('region', { name: 'Restored database' });
  await has(restore, 'Paused: no run of any tenant moves');
  await has(restore, /\d+ open questions? of this tenant/);
  await restore.getByRole('button', { name: 'Release' }).click();
  await send(page, 'Release').click();
  await has(restore, 'Released: runs move');
  expect(await call('GET', '/v1/restore')).toMatchObject({ held: false });
  await restore.getByRole('link', { name: /open question/ }).click();
  await page.getByRole('heading', { name: 'Inbox' }).waitFor();
});
