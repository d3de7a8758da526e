/** Texts of the pages: shown once, in plain words, and announced only when they change. On the stage of `flows.test.ts`. */
import { expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { becomes } from '../support/becomes.ts';
import { show, stage } from './showcase-stage.ts';

/** Lists the texts in live regions that change only because time passes. */
async function announcedBy(page: Page, passing: () => Promise<void>): Promise<string[]> {
  await page.evaluate(() => {
    const seen = { announced: new Set<string>(), changes: 0 };
    Object.assign(globalThis, { seen });
    new MutationObserver((changes) => {
      for (const { target } of changes) {
        const one = target instanceof Element ? target : target.parentElement;
        const region = one?.closest('[aria-live], [role=status], [role=alert], [role=log]');
        const text = one?.textContent ?? '';
        // The test moves the page's clock, which the page announces once.
        const isTime = /\d(?:ms|s|m|h|d)\b/.test(text) && !text.includes('The clock of this device');
        if (isTime) seen.changes += 1;
        if (isTime && region && region.getAttribute('aria-live') !== 'off')
          seen.announced.add(one?.textContent ?? '');
      }
    }).observe(document.body, { subtree: true, characterData: true });
  });
  await passing();
  const seen = () =>
    page.evaluate(() => {
      const { announced, changes } = (
        globalThis as unknown as { seen: { announced: Set<string>; changes: number } }
      ).seen;
      return { announced: [...announced], changes };
    });
  await becomes(async () => (await seen()).changes > 0, true);
  return (await seen()).announced;
}

test('a screen reader does not announce passing time on a run, in the inbox, or while the API is unreachable', async () => {
  const page = await stage.browser.open('/inbox', { prepare: (one) => one.clock.install() });
  await page.locator('li.card time').first().waitFor();
  // The clock moves on by a minute, so that texts in minutes change too.
  expect(await announcedBy(page, () => page.clock.runFor('01:01'))).toEqual([]);
  await page.goto(`/runs/${show.asking}`);
  await page.locator('.run-state', { hasText: ' · for ' }).waitFor();
  expect(await announcedBy(page, () => page.clock.runFor('01:01'))).toEqual([]);
  await page.route('**/v1/**', (route) => route.abort());
  await becomes(async () => {
    await page.clock.runFor('00:05');
    return page.getByText('The API has not responded for').isVisible();
  }, true);
  expect(await announcedBy(page, () => page.clock.runFor('00:05'))).toEqual([]);
});

test('the header of a run says why no decision is accepted until its version is deployed', async () => {
  const graph = '**/v1/runs/*/graph*';
  const page = await stage.browser.open('/inbox', { prepare: (one) => one.clock.install() });
  await page.route(graph, async (route) => {
    const { nodes: _, ...rest } = (await (await route.fetch()).json()) as { readonly nodes?: unknown };
    await route.fulfill({ json: rest });
  });
  await page.goto(`/runs/${show.asking}`);
  const header = page.locator('.run-head');
  await header.getByText('no decision is accepted').first().waitFor();
  const answer = header.getByRole('button', { name: /^Answer / });
  expect(await answer.isDisabled()).toBe(true);
  expect(await header.getByRole('button', { name: 'Cancel' }).isDisabled()).toBe(false);
  await page.unroute(graph);
  await page.clock.runFor('00:16');
  await becomes(() => answer.isEnabled(), true);
  expect(await header.getByText('no decision is accepted').count()).toBe(0);
  const graphs: string[] = [];
  page.on('request', (request) => {
    if (/\/v1\/runs\/[^/]+\/graph/.test(request.url())) graphs.push(request.url());
  });
  await page.clock.runFor('00:31');
  expect(graphs).toEqual([]);
});

test('Health of a local cloud advises no gcloud command', async () => {
  const page = await stage.browser.open('/health');
  const findings = page.locator('.findings');
  await findings.getByText('TTL_UNKNOWN').waitFor();
  expect(await findings.textContent()).not.toContain('gcloud');
});

test('Health uses the singular for one run compared with its journal', async () => {
  const page = await stage.browser.open('/health', {
    prepare: (one) =>
      one.route('**/v1/diagnosis', async (route) => {
        const answer = (await (await route.fetch()).json()) as object;
        const sample = { at: '2026-01-02T03:04:05.000Z', checked: 1 };
        await route.fulfill({ json: { ...answer, sample, problems: [] } });
      }),
  });
  await page.getByText(/^1 recent run was compared with its journal/).waitFor();
});

test('a run in doubt says once what is in doubt and what to do', async () => {
  const page = await stage.browser.open(`/runs/${show.doubtful}`);
  const state = page.locator('.run-state');
  await state.getByText('asks about a side effect').first().waitFor();
  const words = (await state.textContent()) ?? '';
  expect(words.match(/the outcome is unknown/g)).toHaveLength(1);
  expect(words.match(/Check with the receiver/g)).toHaveLength(1);
});

test('a run that has reached its budget shows its question once, and a field for each amount', async () => {
  const question = 'The run has reached its budget: 1.00 USD. Raise the budget?';
  const page = await stage.browser.open('/inbox');
  await page.route(`**/v1/runs/${show.asking}`, async (route) => {
    const run = (await (await route.fetch()).json()) as { waits: readonly object[] };
    const waits = [
      { ...run.waits[0], purpose: 'budget', detail: { question, budget: { reached: ['microUsd'] } } },
    ];
    await route.fulfill({ json: { ...run, waits } });
  });
  await page.goto(`/runs/${show.asking}`);
  const state = page.locator('.run-state');
  await state.locator('.wait-view').waitFor();
  expect((await state.textContent())?.split(question)).toHaveLength(2);
  await page.getByRole('button', { name: 'Decide about the budget' }).click();
  const dialog = page.getByRole('dialog');
  const amounts = dialog.getByRole('group', { name: 'Raise by' });
  await amounts.getByRole('textbox', { name: 'Time' }).waitFor();
  expect(await dialog.getByText('microUsd').count()).toBe(0);
  const within = await amounts.boundingBox();
  const boxes = await Promise.all((await amounts.getByRole('textbox').all()).map((one) => one.boundingBox()));
  expect(boxes).toHaveLength(5);
  for (const [at, box] of boxes.entries()) {
    const next = boxes[at + 1];
    const end = box && box.x + box.width;
    expect(end).toBeLessThanOrEqual(within ? within.x + within.width : 0);
    if (next && next.y === box?.y) expect(end).toBeLessThan(next.x);
  }
});

test.each([
  [
    'runs another step',
    { status: 'running', lease: { owner: 'w', epoch: 1, expiresAt: '2999-01-01T00:00:00.000Z' } },
  ],
  ['is suspended', { suspension: { reason: 'the bank is down', requestedAt: '2026-01-02T03:04:05.000Z' } }],
])('a run that has reached its budget and %s has its question once', async (_, facts) => {
  const question = 'The run has reached its budget: 1.00 USD. Raise the budget?';
  const page = await stage.browser.open('/inbox');
  await page.route(`**/v1/runs/${show.asking}`, async (route) => {
    const run = (await (await route.fetch()).json()) as { waits: readonly object[] };
    const waits = [{ ...run.waits[0], purpose: 'budget', detail: { question } }];
    await route.fulfill({ json: { ...run, ...facts, waits } });
  });
  await page.goto(`/runs/${show.asking}`);
  const state = page.locator('.run-state');
  await state.locator('.wait-view').waitFor();
  expect((await state.textContent())?.split(question)).toHaveLength(2);
});

/** Opens a run whose answer and first wait have these members. */
async function headOf(facts: object) {
  const page = await stage.browser.open('/inbox');
  await page.route(`**/v1/runs/${show.asking}`, async (route) => {
    const run = (await (await route.fetch()).json()) as { waits: readonly object[] };
    const waits = [{ ...run.waits[0], ...facts }];
    await route.fulfill({ json: { ...run, waits, ...facts } });
  });
  await page.goto(`/runs/${show.asking}`);
  return page.locator('.run-state');
}

test.each([
  ['an approval', {}, 'waits for approval'],
  ['a budget', { purpose: 'budget', detail: { question: 'Raise it?' } }, 'has reached its budget'],
  ['a kind of a newer version', { kind: 'quorum', detail: undefined }, 'waits'],
])('a run that waits for nothing but %s says so once', async (_, facts, words) => {
  const state = await headOf(facts);
  await state.locator('.wait-view').waitFor();
  expect((await state.textContent())?.split(words)).toHaveLength(2);
});

test('a run that waits for a child links to it by its id', async () => {
  const state = await headOf({ kind: 'child', child: { runId: show.completed }, detail: undefined });
  await state.getByRole('link', { name: `Open run ${show.completed}` }).waitFor();
});

test('a run that undoes its steps says what helps if its dispatches fail', async () => {
  const error = { code: 'BROKEN', message: 'the press is jammed', retryable: true };
  const failures = { times: 3, error };
  const state = await headOf({ status: 'running', waits: [], compensating: true, error, failures });
  await state.getByText('continues once the cause is fixed').waitFor();
});

test('the open page of a queued run shows that its workflow was paused, until the run continues', async () => {
  const page = await stage.browser.open('/inbox', { prepare: (one) => one.clock.install() });
  const queued = { status: 'pending', waits: [], waitCount: 0 };
  const since = '2026-01-02T03:04:05.000Z';
  const stopped = { by: 'paused', type: 'pay-invoice', since, reason: 'the bank is closed' };
  let now: object = queued;
  await page.route(`**/v1/runs/${show.asking}`, async (route) => {
    const run = (await (await route.fetch()).json()) as object;
    await route.fulfill({ json: { ...run, ...now } });
  });
  await page.goto(`/runs/${show.asking}`);
  const state = page.locator('.run-state');
  await state.getByText('Queued. A worker will pick it up.').waitFor();
  now = { ...queued, stopped };
  await page.clock.runFor('00:16');
  await state.getByText('Workflow pay-invoice is paused: the bank is closed.').waitFor();
  now = {};
  await page.clock.runFor('00:16');
  await state.getByText('Step approve waits for approval.').waitFor();
  expect(await state.getByText('is paused').count()).toBe(0);
});

test.each(['effects', 'journal', 'checkpoints'])(
  'the details of %s show times in the local format',
  async (tab) => {
    const page = await stage.browser.open(`/runs/${show.completed}?tab=${tab}`);
    await page.locator('[data-row]').last().getByRole('button').first().click();
    const facts = page.locator('.row-facts');
    await facts.locator('time').first().waitFor();
    const told = await page.locator('.row-facts, .effect-resolution').allTextContents();
    expect(told.join()).not.toMatch(/\d{4}-\d\d-\d\dT/);
  },
);

test('a link contains no button, however long its text', async () => {
  const { id } = await stage.cloud.call<{ id: string }>('POST', '/v1/schedules', {
    type: 'chain-10',
    cron: '30 3 * * *',
    timezone: 'Europe/Berlin',
    name: 'a schedule '.repeat(9),
  });
  const page = await stage.browser.open(`/schedules/${id}`);
  const link = page.locator('td').getByRole('link', { name: 'a schedule' });
  await link.waitFor();
  expect(await page.locator('a :is(button, a, input)').count()).toBe(0);
  expect(await link.textContent()).toMatch(/…$/);
  await stage.cloud.call('DELETE', `/v1/schedules/${id}`);
});

test('a backfill says which time is missing or wrong, and that a range has no slot', async () => {
  const page = await stage.browser.open(`/schedules/${show.schedule}`, { timezoneId: 'Europe/Berlin' });
  await page.getByRole('button', { name: 'Backfill' }).click();
  const dialog = page.getByRole('dialog');
  const lack = dialog.locator('footer').getByRole('status');
  for (const [from, to, words] of [
    ['2026-01-02T03:00', '', 'Enter both times.'],
    ['2026-01-02T03:00', '2026-01-02T02:00', 'The first time must not be after the second.'],
    ['2026-01-02T03:31', '2026-01-02T04:00', 'No slot is between these times.'],
    ['2026-01-02T03:30', '2026-01-02T04:00', ''],
  ] as const) {
    await dialog.getByLabel('From').fill(from);
    await dialog.getByLabel('To').fill(to);
    await becomes(() => lack.textContent(), words);
    const send = dialog.getByRole('button', { name: /^Start (the|\d+) runs?$/ });
    await becomes(() => send.isDisabled(), words !== '');
  }
});

test('a backfill of a schedule of every minute proposes a range that is accepted', async () => {
  const { id } = await stage.cloud.call<{ id: string }>('POST', '/v1/schedules', {
    type: 'chain-10',
    cron: '* * * * *',
    timezone: 'UTC',
    name: 'Each minute',
  });
  await stage.cloud.call('POST', `/v1/schedules/${id}/pause`, {});
  const page = await stage.browser.open(`/schedules/${id}`);
  await page.getByRole('button', { name: 'Backfill' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText(/^96\d slots\./).waitFor();
  expect(await dialog.getByRole('alert').count()).toBe(0);
  expect(await dialog.getByRole('button', { name: /^Start up to 96\d runs$/ }).isEnabled()).toBe(true);
  await stage.cloud.call('DELETE', `/v1/schedules/${id}`);
});

test.each([
  ['INVALID_INPUT', 'Choose another range.'],
  ['FORBIDDEN', ''],
])('a backfill whose count fails with %s asks for another range only if that helps', async (code, words) => {
  const page = await stage.browser.open(`/schedules/${show.schedule}`);
  const problem = { title: 'Refused', status: 400, code, detail: 'refused by the test' };
  await page.route('**/backfill', (route) => route.fulfill({ status: 400, json: problem }));
  await page.getByRole('button', { name: 'Backfill' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('alert').getByText('refused by the test').waitFor();
  expect(await dialog.locator('footer').getByRole('status').textContent()).toBe(words);
});

test.each([
  ['Cron expression', '0 0 30 2 *', 'cron never matches a time'],
  ['Timezone', 'Mars/Olympus', 'timezone is not a time zone'],
])(
  'a refused member of a schedule is shown at its field %s, which gets the focus, until it is changed',
  async (name, text, why) => {
    const page = await stage.browser.open('/schedules', { viewport: { width: 390, height: 844 } });
    await page.getByRole('button', { name: 'New schedule' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Workflow').selectOption('chain-10');
    const field = dialog.getByLabel(name);
    await field.fill(text);
    await dialog.getByRole('button', { name: 'Create', exact: true }).click();
    await dialog.getByRole('alert').filter({ hasText: why }).waitFor();
    const told = () =>
      field.evaluate(
        (one) => document.getElementById(one.getAttribute('aria-describedby') ?? '')?.textContent,
      );
    await becomes(told, expect.stringContaining(why));
    expect(await field.getAttribute('aria-invalid')).toBe('true');
    expect(await field.evaluate((one) => one === document.activeElement)).toBe(true);
    const box = await field.boundingBox();
    expect(box && box.y >= 0 && box.y + box.height <= 844).toBe(true);
    await field.fill(`${text} `.replace(/.$/, '1'));
    await becomes(() => field.getAttribute('aria-invalid'), 'false');
    expect(await told()).not.toContain(why);
  },
);

test('a schedule offers the time zones of the browser, and the API accepts each of them', async () => {
  const page = await stage.browser.open('/schedules');
  await page.getByRole('button', { name: 'New schedule' }).click();
  const field = page.getByRole('dialog').getByRole('combobox', { name: 'Timezone' });
  const zones = await field.evaluate((one) =>
    [...((one as HTMLInputElement).list?.options ?? [])].map(({ value }) => value),
  );
  expect(zones).toContain('Europe/Berlin');
  // The API would refuse a zone that it knows only by a newer name.
  const known = (timeZone: string) => {
    try {
      return new Intl.DateTimeFormat('en', { timeZone }).resolvedOptions().timeZone !== '';
    } catch {
      return false;
    }
  };
  expect(zones.filter((zone) => !known(zone))).toEqual([]);
});

test('a card of the inbox shows once which role its answers require', async () => {
  const client = { name: 'who looks', role: 'viewer' };
  const { secret } = await stage.cloud.call<{ secret: string }>('POST', '/v1/clients', client);
  const page = await stage.browser.open('/inbox', {
    prepare: (one) =>
      one.addInitScript((key) => sessionStorage.setItem('cairn.api-key', String(key)), secret),
  });
  const card = page.locator('li.card', { has: page.locator(`a[href="/runs/${show.asking}"]`) });
  await card.getByText('Answer, Reject, Approve: requires the role operator; yours is viewer').waitFor();
  expect((await card.textContent())?.match(/requires the role/g)).toHaveLength(1);
});
