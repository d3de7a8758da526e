import { describe, expect, test } from '@jest/globals';
import type { Page, Request } from 'playwright-core';
import { deliverUntilTaken, riskyPullRequest } from '../../scripts/demo/delivery.ts';
import { eventually } from '../system/support.ts';
import { facts } from './one-stage/facts.suite.ts';
import { runActions } from './one-stage/run-actions.suite.ts';
import { signIn } from './one-stage/sign-in.suite.ts';
import { versions } from './one-stage/versions.suite.ts';
import { childRuns } from './runs/child-runs.suite.ts';
import { layoutOfList } from './runs/layout.suite.ts';
import { placeInList } from './runs/place.suite.ts';
import { searchOfRuns } from './runs/search.suite.ts';
import { PAGE, pageOf } from './runs/support/pages.ts';
import { becomes } from './support/becomes.ts';
import { goTo } from './support/browser.ts';
import { type Holding, holdTimers } from './support/hold-timers.ts';
import { setStage } from './support/stage.ts';

const stage = setStage();
/** Suites that share this stage to save processor time. The first one needs an installation without schedules. */
describe('on the same stage:', () => {
  signIn(stage);
  versions(stage);
  runActions(stage);
  facts(stage);
});

async function start(type: string, input: object, threadId?: string): Promise<string> {
  const thread = threadId === undefined ? {} : { threadId };
  return (await stage.cloud.call<{ runId: string }>('POST', '/v1/runs', { type, input, ...thread })).runId;
}

/** A workflow that waits for an event that nobody sends. */
const startLong = (threadId: string) => start('awaiting', { key: threadId }, threadId);

async function hasStatus(id: string, wanted: string): Promise<void> {
  await eventually(`run ${id} is ${wanted}`, async () => {
    const { status } = await stage.cloud.call<{ status: string }>('GET', `/v1/runs/${id}`);
    return status === wanted || undefined;
  });
}

/** Delay of the text fields of the filter. */
const TYPED_MS = 400;

const rowOf = (page: Page, id: string) => page.locator(`#row-${id}`);
const dataRows = (page: Page) => page.locator('.run-rows [role=row]');

test('a webhook arrives, and its run appears in the list and moves, without a reload', async () => {
  const page = await stage.browser.open('/runs');
  await page.locator('.list-live', { hasText: 'Updates live' }).waitFor();
  await page.evaluate("document.body.setAttribute('data-not-reloaded', '')");
  const delivery = riskyPullRequest();
  const { runId } = await deliverUntilTaken(stage.cloud.ready, delivery);
  const row = rowOf(page, String(runId));
  await row.getByText('review-pull-request').waitFor();
  await row.locator('[data-status=awaiting_approval]').waitFor();
  await row.getByText('Sign off the review').waitFor();
  await stage.cloud.call('POST', `/v1/runs/${runId}/cancel`, { reason: 'seen enough' });
  await row.locator('[data-status=cancelled]').waitFor();
  await row.getByText('seen enough').waitFor();
  expect(await page.locator('body[data-not-reloaded]').count()).toBe(1);

  await page.getByRole('searchbox').fill(delivery.id);
  await page.keyboard.press('Enter');
  await page.waitForURL(`**/runs/${runId}`);
});

test.each([
  ['', 1],
  ['?type=chain-10', 1],
  ['?q=chain-10', 0],
])(
  'the rows of /runs%s are requested %i times, without repeating the early request',
  async (search, times) => {
    const requests: string[] = [];
    const listen = (request: Request) => requests.push(new URL(request.url()).pathname);
    const page = await stage.browser.open(`/runs${search}`, {
      prepare: async (one) => void one.on('request', listen),
    });
    if (times > 0) await page.locator('.list-live', { hasText: 'Updates live' }).waitFor();
    else await page.getByRole('heading', { name: 'No run found' }).waitFor();
    expect(requests.filter((path) => path === '/v1/runs')).toHaveLength(times);
  },
);

test.each(['/runs', '/runs?thread=typed'])(
  'a text typed at %s is not applied after *Show all runs*, however late its timer fires',
  async (path) => {
    const id = await start('chain-10', {}, 'typed');
    await hasStatus(id, 'completed');
    const prepare = (one: Page) => one.addInitScript(holdTimers, TYPED_MS);
    const page = await stage.browser.open(path, { prepare });
    await rowOf(page, id).waitFor();
    await page.getByRole('textbox', { name: 'Thread' }).fill('nowhere');
    await page.waitForFunction(() => (globalThis as unknown as Holding).held.length > 0);
    await page.evaluate(() => {
      for (const call of (globalThis as unknown as Holding).held.splice(0)) call();
    });
    await page.getByRole('button', { name: 'Show all runs' }).evaluate(async (button) => {
      (button as unknown as { click(): void }).click();
      // The page draws in microtasks. On a busy machine a timer can fire before the effects of that drawing.
      for (let turn = 0; turn < 100; turn += 1) await undefined;
      for (const call of (globalThis as unknown as Holding).held.splice(0)) call();
    });
    await rowOf(page, id).waitFor();
    expect(new URL(page.url()).search).toBe('');
    expect(await page.getByRole('textbox', { name: 'Thread' }).inputValue()).toBe('');
  },
);

test('the list is filtered by status, thread and workflow, Enter opens a run, and Back undoes each step', async () => {
  const [done, waiting] = [await start('chain-10', {}, 'narrow'), await startLong('narrow')];
  await hasStatus(done, 'completed');
  const page = await stage.browser.open('/runs?thread=narrow');
  await rowOf(page, done).waitFor();
  await rowOf(page, waiting).waitFor();
  const chips = page.getByRole('group', { name: 'Status' });
  await chips.getByRole('button', { name: 'completed 1' }).click();
  await rowOf(page, waiting).waitFor({ state: 'detached' });
  expect(new URL(page.url()).search).toBe('?thread=narrow&status=completed');
  await page.getByLabel('Workflow').selectOption('awaiting');
  await page.getByRole('heading', { name: 'No run matches' }).waitFor();
  await page.goBack();
  await rowOf(page, done).waitFor();
  await page.keyboard.press('ArrowDown');
  await becomes(() => page.getByRole('grid').getAttribute('aria-activedescendant'), `row-${done}`);
  await page.keyboard.press('Enter');
  await page.waitForURL(`**/runs/${done}`);
  await page.goBack();
  await rowOf(page, done).waitFor();
  await page.goBack();
  await rowOf(page, waiting).waitFor();
  await page.getByRole('textbox', { name: 'Thread' }).fill('nowhere');
  await page.getByRole('button', { name: 'Show all runs' }).click();
  await rowOf(page, waiting).waitFor();
  expect(new URL(page.url()).search).toBe('');
  await stage.cloud.call('POST', `/v1/runs/${waiting}/cancel`, {});
});

test.each([
  ['Thread', 'thread', '<a.b@c.test>'],
  ['Repository', 'repo', 'owner/name>'],
])('%s is filtered by a text that ends like a comparison, without Enter', async (field, name, text) => {
  const page = await stage.browser.open('/runs');
  await page.getByRole('textbox', { name: field }).fill(text);
  await becomes(async () => new URL(page.url()).searchParams.get(name), text);
});

test('runs selected by keyboard are cancelled after a preview of the runs, and resumed after a preview of the effects', async () => {
  const long = [await startLong('bulk'), await startLong('bulk')];
  const done = await start('chain-10', {}, 'bulk');
  await hasStatus(done, 'completed');
  for (const id of long) await hasStatus(id, 'waiting_external');
  const page = await stage.browser.open('/runs?thread=bulk');
  await rowOf(page, done).locator('[data-status=completed]').waitFor();
  for (const id of long) await rowOf(page, id).locator('[data-status=waiting_external]').waitFor();
  for (const key of ['j', 'x', 'Shift+J', 'Shift+J']) await page.keyboard.press(key);
  await page.getByText('3 selected').waitFor();
  // With runs selected, a change of all that match is a mistake.
  const forAll = page.getByRole('button', { name: 'Cancel all…', disabled: true });
  expect(await forAll.evaluate((one) => one.ariaDescribedByElements?.at(0)?.textContent)).toBe(
    'To change all runs, clear the selection',
  );

  await page.getByRole('button', { name: 'Cancel…', exact: true }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('2 runs will be cancelled. 1 will not: the list gives the reasons.').waitFor();
  await dialog.locator(`tr[data-run=${done}]`).getByText('the run is completed').waitFor();
  await dialog.getByLabel(/^Reason/).fill('no need');
  await dialog.getByText('As a command').click();
  const commands = (await dialog.locator('pre').allTextContents()).join('\n');
  for (const id of long) expect(commands).toContain(id);
  expect(commands).not.toContain(done);
  await dialog.getByRole('button', { name: 'Cancel 2 runs' }).click();
  await dialog.getByText('Done for 2 of 2 runs.').waitFor();
  await dialog.getByRole('button', { name: 'Close', exact: true }).last().click();
  for (const id of long) await rowOf(page, id).locator('[data-status=cancelled]').waitFor();
  await rowOf(page, String(long[0])).getByText('no need').waitFor();

  await page.getByRole('button', { name: 'cancelled 2' }).click();
  await rowOf(page, done).waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Resume all…' }).click();
  await dialog.getByText('2 runs will be resumed.').waitFor();
  for (const id of long)
    await dialog
      .locator(`tr[data-run=${id}]`)
      .getByText('starts a new run: 0 steps reused, 2 steps to run')
      .waitFor();
  await dialog.getByRole('button', { name: 'Resume 2 runs' }).click();
  await dialog.getByText('Done for 2 of 2 runs.').waitFor();
  const made = await dialog.getByRole('link', { name: 'started a new run' }).first().getAttribute('href');
  await dialog.getByRole('button', { name: 'Close', exact: true }).last().click();
  const { items } = await stage.cloud.call<{ items: { id: string; resumedFrom?: string }[] }>(
    'GET',
    '/v1/runs?threadId=bulk',
  );
  const successors = items.filter(({ resumedFrom }) => resumedFrom !== undefined);
  expect(successors.map(({ resumedFrom }) => resumedFrom).sort()).toEqual([...long].sort());
  expect(successors.map(({ id }) => `/runs/${id}`)).toContain(made);
  for (const { id } of successors) await stage.cloud.call('POST', `/v1/runs/${id}/cancel`, {});
});

test('all matching runs are cancelled with the mouse, in any list order', async () => {
  const long = [await startLong('matched-1'), await startLong('matched-2')];
  const other = await startLong('unmatched');
  for (const id of [...long, other]) await hasStatus(id, 'waiting_external');
  const page = await stage.browser.open('/runs?sort=updated');
  await rowOf(page, other).waitFor();
  await page.getByRole('textbox', { name: 'Tag' }).fill('Matched-');
  await page.waitForURL('**/runs?sort=updated&match=Matched-');
  await rowOf(page, other).waitFor({ state: 'detached' });
  for (const id of long) await rowOf(page, id).waitFor();
  await page.getByRole('button', { name: 'Cancel all…' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('2 runs will be cancelled.').waitFor();
  expect(await dialog.textContent()).toContain('All runs that match Matched-: only those that are running');
  await dialog.getByRole('button', { name: 'Cancel 2 runs' }).click();
  await dialog.getByText('Done for 2 of 2 runs.').waitFor();
  await dialog.getByRole('button', { name: 'Close', exact: true }).last().click();
  for (const id of long) await rowOf(page, id).locator('[data-status=cancelled]').waitFor();
  expect(new URL(page.url()).search).toBe('?sort=updated&match=Matched-');
  await hasStatus(other, 'waiting_external');
  await stage.cloud.call('POST', `/v1/runs/${other}/cancel`, {});
});

test('disabled buttons say which role is missing', async () => {
  const { secret } = await stage.cloud.call<{ secret: string }>('POST', '/v1/clients', {
    name: 'looks',
    role: 'viewer',
  });
  await start('chain-10', {}, 'seen');
  const page = await stage.browser.open('/runs');
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByLabel('API key').fill(secret);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await dataRows(page).first().waitFor();
  await page.getByText('Requires the role operator').waitFor();
  expect(await page.getByRole('button', { name: 'Cancel all…' }).isDisabled()).toBe(true);
});

childRuns(stage);
layoutOfList(stage);
placeInList(stage);
searchOfRuns(stage);

describe('ten thousand runs', () => {
  /** Upper limit of the rows on a screen and rendered ahead. */
  const MAX_ROWS = 70;

  const inView = (page: Page) =>
    page.evaluate(() => {
      const rows = [...document.querySelectorAll('.run-rows [role=row]')];
      return rows.filter((row) => row.getBoundingClientRect().bottom <= window.innerHeight).length;
    });

  test('show thirty compact rows on a screen, and the browser stores density and saved views', async () => {
    const page = await stage.browser.open('/inbox');
    await page.route('**/v1/runs?*', (route) =>
      route.fulfill({ json: pageOf(new URL(route.request().url()).searchParams.get('cursor')) }),
    );
    await page.route('**/v1/runs/stream?*', (route) => route.abort());
    await page.getByRole('link', { name: 'Runs' }).click();
    await rowOf(page, 'run_0_0').waitFor();
    const roomy = await inView(page);
    await page.getByText('View', { exact: true }).click();
    await page.getByLabel('Compact rows').check();
    await eventually('thirty rows to be in view', async () =>
      (await inView(page)) >= 30 ? true : undefined,
    );
    expect(roomy).toBeLessThan(15);

    await page.getByLabel('Trigger').uncheck();
    await page.waitForURL('**/runs?hide=trigger');
    await rowOf(page, 'run_0_0').locator('.c-trigger').waitFor({ state: 'hidden' });
    expect(await rowOf(page, 'run_0_0').locator('.c-time').isVisible()).toBe(true);
    await page.getByLabel('Name of this view').fill('without triggers');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('link', { name: 'without triggers' }).waitFor();
    await page.keyboard.press('Escape');
    expect(await page.locator('.view-menu').getAttribute('open')).toBeNull();
    expect(await page.locator('summary:focus').textContent()).toBe('View');

    await page.goto('/runs');
    await rowOf(page, 'run_0_0').locator('.c-trigger').waitFor();
    expect(await inView(page)).toBeGreaterThanOrEqual(30);
    await page.getByText('View', { exact: true }).click();
    await page.getByRole('link', { name: 'without triggers' }).click();
    await page.waitForURL('**/runs?hide=trigger');
    await page.getByRole('button', { name: 'Delete the view without triggers' }).click();
    await page.getByRole('link', { name: 'without triggers' }).waitFor({ state: 'detached' });
    await page.getByRole('heading', { name: 'Runs', exact: true }).click();
    expect(await page.locator('.view-menu').getAttribute('open')).toBeNull();
  });

  test.each([
    [1280, 800, 260],
    // A zoom of 200 %, where the buttons for all runs take a second line.
    [640, 400, 340],
    [390, 844, 350],
  ])(
    'begin high up on a screen of %d by %d px, and the menu View fits the screen',
    async (width, height, most) => {
      const page = await stage.browser.open('/inbox', { viewport: { width, height } });
      await page.route('**/v1/runs?*', (route) => route.fulfill({ json: pageOf(null) }));
      await page.route('**/v1/runs/stream?*', (route) => route.abort());
      await goTo(page, '/runs?status=completed');
      const row = rowOf(page, 'run_0_0');
      await row.waitFor();
      expect((await row.boundingBox())?.y).toBeLessThan(most);
      await page.getByText('View', { exact: true }).click();
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
      const menu = await page.locator('.view-menu > div').boundingBox();
      expect(menu?.x).toBeGreaterThanOrEqual(0);
      expect((menu?.x ?? 0) + (menu?.width ?? width)).toBeLessThanOrEqual(width);
      await page.getByLabel('Compact rows').click({ trial: true });
    },
  );

  test('of one cause, which the API cannot filter by, are searched only in part for a bulk change, and the dialog says so', async () => {
    const page = await stage.browser.open('/inbox');
    await page.route('**/v1/runs?*', (route) => {
      const cursor = new URL(route.request().url()).searchParams.get('cursor');
      const error = { code: 'OTHER', message: 'out of ink', retryable: false };
      const answer = pageOf(cursor, { status: 'failed', error });
      const items = answer.items.map((run) =>
        run.id.endsWith('_0') ? { ...run, error: { ...error, code: 'RARE' } } : run,
      );
      return route.fulfill({ json: { ...answer, items } });
    });
    await page.route('**/v1/runs/stream?*', (route) => route.abort());
    await goTo(page, '/runs?status=failed&cause=RARE:');
    await rowOf(page, 'run_0_0').waitFor();
    await page.getByRole('button', { name: 'Resume all…' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Only the newest 1,000 runs of a status were searched.').waitFor();
    await becomes(() => dialog.locator('tr[data-run]').count(), 10);
  });

  test('in another order continue at the cursor of that order', async () => {
    const page = await stage.browser.open('/inbox');
    const requests: string[] = [];
    await page.route('**/v1/runs?*', (route) => {
      const { searchParams } = new URL(route.request().url());
      const cursor = searchParams.get('cursor');
      requests.push(`${searchParams.get('sort')} ${cursor ?? 'first'}`);
      return route.fulfill({ json: pageOf(cursor) });
    });
    await goTo(page, '/runs?sort=longest');
    await rowOf(page, 'run_0_0').waitFor();
    await eventually('the second page to be there', async () => {
      await page.keyboard.press('End');
      return requests.length > 1 || undefined;
    });
    expect(requests[0]).toBe('longest first');
    expect(requests[1]).toMatch(/^longest (?!first)/);
  });

  test('are virtualised while scrolling, and reloaded when scrolling back', async () => {
    const page = await stage.browser.open('/inbox');
    const requests: string[] = [];
    await page.route('**/v1/runs?*', (route) => {
      const cursor = new URL(route.request().url()).searchParams.get('cursor');
      requests.push(cursor ?? 'first');
      return route.fulfill({ json: pageOf(cursor) });
    });
    await page.route('**/v1/runs/stream?*', (route) => route.abort());
    await page.getByRole('link', { name: 'Runs' }).click();
    await rowOf(page, 'run_0_0').waitFor();
    await page.locator('.list-live', { hasText: 'reconnecting' }).waitFor();

    // One press per page is not enough: a press before the new rows arrive goes to the old end.
    await eventually('thirteen pages to be there', async () => {
      await page.keyboard.press('End');
      expect(await dataRows(page).count()).toBeLessThan(MAX_ROWS);
      return Number(await page.getByRole('grid').getAttribute('aria-rowcount')) > 13 * PAGE
        ? true
        : undefined;
    });
    const timesAsked = (wanted: string) => requests.filter((cursor) => cursor === wanted).length;
    const onTheWayDown = timesAsked('2');
    await eventually('the first run to be there again', async () => {
      await page.keyboard.press('Home');
      return (await rowOf(page, 'run_0_0').isVisible()) ? true : undefined;
    });
    await page.evaluate('window.scrollTo({ top: 250 * 50 })');
    await rowOf(page, 'run_2_40').waitFor();
    expect(timesAsked('2')).toBeGreaterThan(onTheWayDown);
    expect(await dataRows(page).count()).toBeLessThan(MAX_ROWS);
  });
});
