/** Parts of a page that the API refuses, or that arrive late. On the stage of `flows.test.ts`. */
import { expect, test } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { PATIENCE_MS } from '../../../packages/console/src/pages/health/patience.ts';
import { becomes } from '../support/becomes.ts';
import { type Holding, holdTimers } from '../support/hold-timers.ts';
import { show, stage } from './showcase-stage.ts';

const REFUSED = { title: 'Refused', status: 400, code: 'INVALID_INPUT', detail: 'refused by the test' };
const refuse = (page: Page, of: string) =>
  page.route(of, (route) => route.fulfill({ status: 400, json: REFUSED }));
/** Refuses every request until *Try again* is pressed, also the page's own retries, so that the button stays. */
async function refuseUntilAsked(page: Page, of: string): Promise<void> {
  await page.addInitScript(() =>
    window.addEventListener(
      'click',
      ({ target }) => {
        window.hasAsked ||= (target as Element).closest('button')?.textContent === 'Try again';
      },
      { capture: true },
    ),
  );
  await page.route(of, async (route) =>
    (await page.evaluate(() => window.hasAsked))
      ? route.continue()
      : route.fulfill({ status: 400, json: REFUSED }),
  );
}
declare global {
  interface Window {
    hasAsked?: boolean;
  }
}
const failureIn = (part: Page | Locator) =>
  part.getByRole('alert').filter({ hasText: 'refused by the test' });
const EVENTS = '**/v1/runs/*/events?*';
const WORKFLOWS = '**/v1/workflows?summary=*';

test.each([
  ['beside the graph', '', '.timeline-beside .chart-row'],
  ['in the panel of a step', '?step=check-line', '.step-panel .attempts'],
  ['in the journal', '?tab=journal', '.journal [role=row]'],
  ['in the timeline', '?tab=timeline', '.timeline .chart-row'],
])('a refused list of events is reported %s, and *Try again* reads it', async (_, query, whole) => {
  const path = `/runs/${show.completed}${query}`;
  const page = await stage.browser.open(path, { prepare: (one) => refuseUntilAsked(one, EVENTS) });
  const main = page.getByRole('main');
  await failureIn(main).waitFor();
  expect(await main.getByText('No matching events').count()).toBe(0);
  await failureIn(main).getByRole('button', { name: 'Try again' }).click();
  await page.locator(whole).first().waitFor();
  await becomes(() => failureIn(main).count(), 0);
});

test.each([
  ['beside the graph', '', '.timeline-beside'],
  ['in the timeline', '?tab=timeline', '.timeline'],
])(
  'an ended run with a part of its events loaded shows no running bar %s, and says how much is loaded',
  async (_, query, part) => {
    const page = await stage.browser.open('/inbox');
    await page.route(EVENTS, async (route) => {
      const url = new URL(route.request().url());
      if (url.searchParams.has('cursor')) return route.fulfill({ status: 400, json: REFUSED });
      url.searchParams.set('limit', '6');
      await route.continue({ url: url.href });
    });
    await page.goto(`/runs/${show.completed}${query}`);
    await failureIn(page.getByRole('main')).waitFor();
    const timeline = page.locator(part);
    await timeline.getByText(/The first 6 of \d+ events are shown/).waitFor();
    expect(await timeline.locator('[data-end=open], .dispatch.open').count()).toBe(0);
    expect(await timeline.locator('[title*="its end is not loaded"]').count()).toBeGreaterThan(0);
  },
);

test('a refused stream of a run is reported in its header, and *Try again* follows it', async () => {
  const stream = '**/v1/runs/*/stream*';
  const page = await stage.browser.open(`/runs/${show.asking}`, {
    prepare: (one) => refuseUntilAsked(one, stream),
  });
  // The mark says "not updating, reconnecting" until the refusal arrives.
  await page.locator('.live-mark', { hasText: /not updating: .*refused by the test/ }).waitFor();
  await page.locator('.run-title').getByRole('button', { name: 'Try again' }).click();
  await page.locator('.live-mark.live').waitFor();
});

test.each([
  ['the filter of the list', '.filters'],
  ['the form that starts a run', 'dialog'],
])('%s says that the workflows were refused, and *Try again* reads them', async (_, place) => {
  const page = await stage.browser.open('/runs', { prepare: (one) => refuseUntilAsked(one, WORKFLOWS) });
  if (place === 'dialog') await page.getByRole('button', { name: 'Start a run' }).click();
  const part = page.locator(place);
  await failureIn(part).waitFor();
  await failureIn(part).getByRole('button', { name: 'Try again' }).click();
  await part.getByLabel('Workflow').locator('option[value=pay-invoice]').waitFor({ state: 'attached' });
  await becomes(() => failureIn(part).count(), 0);
});

test('the form that starts a run says that the input schema was refused, and *Try again* reads it', async () => {
  const schema = '**/v1/workflows/*/input';
  const page = await stage.browser.open('/workflows/gift', {
    prepare: (one) => refuseUntilAsked(one, schema),
  });
  await page.getByRole('button', { name: 'Start a run' }).click();
  const dialog = page.getByRole('dialog');
  await failureIn(dialog).waitFor();
  await failureIn(dialog).getByRole('button', { name: 'Try again' }).click();
  await dialog.getByRole('textbox', { name: 'cents' }).waitFor();
});

test('the message about a refused schema keeps the focus on *Try again* until the next answer', async () => {
  const schema = '**/v1/workflows/*/input';
  const page = await stage.browser.open('/workflows/gift', { prepare: (one) => refuse(one, schema) });
  await page.getByRole('button', { name: 'Start a run' }).click();
  const again = failureIn(page.getByRole('dialog')).getByRole('button', { name: 'Try again' });
  await again.waitFor();
  const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
  await page.unroute(schema);
  await page.route(schema, async (route) => {
    await answered;
    await route.fulfill({ status: 400, json: REFUSED });
  });
  const asked = page.waitForRequest(schema);
  await again.press('Enter');
  await asked;
  await page.getByText('Reading the schema…').waitFor();
  const focused = () => again.evaluateAll(([one]) => one !== undefined && one === document.activeElement);
  expect(await focused()).toBe(true);
  const read = page.waitForResponse(schema);
  answer();
  await read;
  await becomes(() => page.getByText('Reading the schema…').count(), 0);
  expect(await focused()).toBe(true);
});

test('the list says whether it updates, and otherwise how old it is', async () => {
  const stream = '**/v1/runs/stream?*';
  const page = await stage.browser.open('/runs');
  const mark = page.locator('.list-live');
  await becomes(() => mark.textContent(), '● Updates live');
  await page.route(stream, (route) => route.fulfill({ status: 400, json: REFUSED }));
  await page.getByLabel('Workflow').selectOption('pay-invoice');
  await becomes(
    () => mark.textContent(),
    expect.stringMatching(/^✕ Not updating: refused by the test · read (now|\d+s ago)$/),
  );
  const read = page.waitForRequest((one) => new URL(one.url()).pathname === '/v1/runs');
  await page.getByRole('button', { name: 'Read again' }).click();
  await read;
  await page.unroute(stream);
  await page.goto('/runs?sort=oldest');
  await becomes(
    () => mark.textContent(),
    expect.stringMatching(/^○ Not updated live · read (now|\d+s ago)$/),
  );
});

const LONG = 'refused by the test, '.repeat(40);

test.each([390, 700, 1000, 1280])(
  'the rows do not move at %i px, whatever the messages above them',
  async (width) => {
    const stream = '**/v1/runs/stream?*';
    const page = await stage.browser.open('/runs', { viewport: { width, height: 800 } });
    const mark = page.locator('.list-live');
    const grid = page.locator('.run-grid');
    const top = async () => (await grid.boundingBox())?.y;
    const head = async () => (await page.locator('.runs-head').boundingBox())?.height;
    await becomes(() => mark.textContent(), '● Updates live');
    const live = [await head(), await top()];
    await page.goto('/runs?sort=oldest');
    await becomes(() => mark.textContent(), expect.stringContaining('Not updated live'));
    await page.getByRole('button', { name: 'Read again' }).waitFor();
    expect(await head()).toBe(live[0]);
    await page.route(stream, (route) => route.fulfill({ status: 400, json: { ...REFUSED, detail: LONG } }));
    await page.route(WORKFLOWS, async (route) => {
      const answer = (await (await route.fetch()).json()) as object;
      await route.fulfill({ json: { ...answer, killSwitch: true } });
    });
    await page.goto('/runs');
    await becomes(() => mark.textContent(), expect.stringContaining('refused by the test'));
    // On a phone the refusal leaves no room for this message.
    await page.locator('.list-stopped', { hasText: 'The kill switch is on' }).waitFor({ state: 'attached' });
    await page.getByRole('button', { name: 'Read again' }).click();
    await grid.waitFor();
    // The first words of the refusal are fully visible.
    const isWhole = await mark.evaluate((one) => {
      const [words] = one.children;
      return words !== undefined && words.getBoundingClientRect().right <= one.getBoundingClientRect().right;
    });
    expect(isWhole).toBe(true);
    expect([await head(), await top()]).toEqual(live);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
  },
);

test.each([390, 700, 1000, 1100, 1280])(
  'the rows do not move at %i px when the workflows are refused, with or without a chosen workflow',
  async (width) => {
    const page = await stage.browser.open('/runs', { viewport: { width, height: 800 } });
    const top = async () => (await page.locator('.run-grid').boundingBox())?.y;
    const workflow = page.locator('.filters').getByLabel('Workflow');
    for (const query of ['', '?type=pay-invoice']) {
      await page.goto(`/runs${query}`);
      await workflow.locator('option[value=chain-10]').waitFor({ state: 'attached' });
      await page.locator('.run-grid').waitFor();
      const before = await top();
      await page.route(WORKFLOWS, (route) =>
        route.fulfill({ status: 400, json: { ...REFUSED, detail: LONG } }),
      );
      await page.goto(`/runs${query}`);
      await failureIn(page.locator('.filters')).waitFor();
      await page.locator('.run-grid').waitFor();
      expect(await top()).toBe(before);
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
      await page.unroute(WORKFLOWS);
    }
  },
);

test.each([390, 1000, 1280, 1440, 1600])(
  'the rows do not move at %i px when the counts of the statuses arrive, for any number of runs',
  async (width) => {
    const { promise: counted, resolve: letGo } = Promise.withResolvers<void>();
    const page = await stage.browser.open('/inbox', { viewport: { width, height: 800 } });
    await page.route('**/v1/runs/counts*', async (route) => {
      const answer = (await (await route.fetch()).json()) as { readonly counts: object };
      await counted;
      const counts = Object.fromEntries(Object.keys(answer.counts).map((status) => [status, 1_234]));
      await route.fulfill({ json: { ...answer, counts } });
    });
    await page.goto('/runs');
    const grid = page.locator('.run-grid');
    await grid.waitFor();
    await page.locator('.filters option[value=chain-10]').waitFor({ state: 'attached' });
    const before = (await grid.boundingBox())?.y;
    letGo();
    await page.locator('.chips .count', { hasText: '1,234' }).first().waitFor({ state: 'attached' });
    expect((await grid.boundingBox())?.y).toBe(before);
  },
);

test('a phone shows a paused workflow with its link beside a refused stream', async () => {
  const page = await stage.browser.open('/inbox', { viewport: { width: 390, height: 844 } });
  await page.route('**/v1/runs/stream?*', (route) => route.fulfill({ status: 400, json: REFUSED }));
  await page.route(WORKFLOWS, async (route) => {
    const answer = (await (await route.fetch()).json()) as { readonly items: readonly object[] };
    const paused = { by: 'ada', at: '2026-01-31T06:00:00.000Z' };
    await route.fulfill({ json: { ...answer, items: answer.items.map((one) => ({ ...one, paused })) } });
  });
  await page.goto('/runs');
  await page.locator('.list-live', { hasText: 'Not updating' }).waitFor();
  const stopped = page.locator('.list-stopped').getByRole('link');
  await stopped.waitFor({ state: 'attached' });
  const shown = () =>
    page.locator('.list-state').evaluate((state) => {
      const { left, right } = state.getBoundingClientRect();
      return ['.list-live > span', '.list-stopped a', 'button'].map((part) => {
        const box = state.querySelector(part)?.getBoundingClientRect();
        return box !== undefined && box.width >= 24 && box.left >= left && box.right <= right + 1;
      });
    });
  await becomes(shown, [true, true, true]);
  expect(await stopped.locator('.on-narrow').textContent()).toBe('paused');
  await stopped.click();
  await page.waitForURL('**/workflows');
});

test.each([390, 700, 1280])(
  'at %i px the kill switch and a restored database are both shown, each with its link',
  async (width) => {
    const page = await stage.browser.open('/inbox', { viewport: { width, height: 844 } });
    await page.route(WORKFLOWS, async (route) => {
      const answer = (await (await route.fetch()).json()) as object;
      await route.fulfill({ json: { ...answer, killSwitch: true, restored: true } });
    });
    for (const [to, says] of [
      ['/health', 'The database was restored'],
      ['/workflows', 'The kill switch is on'],
    ] as const) {
      await page.goto('/runs');
      const link = page.locator(`.list-stopped a[href="${to}"]`, { hasText: says });
      await link.waitFor();
      const inSight = () =>
        link.evaluate((one) => {
          const [box, state] = [one, one.closest('.list-state')].map((part) => part?.getBoundingClientRect());
          return box !== undefined && state !== undefined && box.width >= 24 && box.right <= state.right + 1;
        });
      await becomes(inSight, true);
      await link.click();
      await page.waitForURL(`**${to}`);
    }
  },
);

test('a web page in place of the API is reported as such, and nothing counts as live until the API answers again', async () => {
  const page = await stage.browser.open('/inbox', { prepare: (one) => one.clock.install() });
  await page.route('**/v1/**', (route) => {
    if (route.request().url().includes('/v1/me')) return route.continue();
    return route.fulfill({
      contentType: 'text/html; charset=utf-8',
      body: '<html><title>Hotel: sign in</title></html>',
    });
  });
  await page.goto(`/runs/${show.asking}`);
  // The page retries some times first.
  const isTold = async () => {
    await page.clock.runFor('00:02');
    return page.getByText('a web page: Hotel: sign in').first().isVisible();
  };
  await becomes(isTold, true);
  await page.goto('/runs');
  await page.locator('.list-live.warn').waitFor();
  await becomes(isTold, true);
  expect(await page.getByText('is not valid JSON').count()).toBe(0);
  await page.unroute('**/v1/**');
  await becomes(async () => {
    await page.clock.runFor('00:02');
    return page.locator('.list-live.live').isVisible();
  }, true);
  await page.locator('.run-grid').waitFor();
});

/** Ends the page's wait for the diagnosis. */
const runOut = (page: Page) =>
  page.evaluate(() => {
    for (const call of (globalThis as unknown as Holding).held.splice(0)) call();
  });

/** Opens Health, and ends its wait for the diagnosis before that arrives. */
async function withLateDiagnosis(status: number) {
  const { promise: told, resolve: letGo } = Promise.withResolvers<void>();
  const page = await stage.browser.open('/health', {
    prepare: async (one) => {
      await one.addInitScript(holdTimers, PATIENCE_MS);
      await one.route('**/v1/diagnosis', async (route) => {
        await told;
        await (status === 200 ? route.continue() : route.fulfill({ status, json: REFUSED }));
      });
    },
  });
  const today = page.getByRole('heading', { name: 'Runs of today' });
  await page.locator('h2', { hasText: 'Runs of today' }).waitFor({ state: 'attached' });
  await page.getByText('Loading the diagnosis').waitFor();
  expect(await today.isVisible()).toBe(false);
  await runOut(page);
  await today.waitFor();
  return { page, today, letGo };
}

test.each([
  ['comes late', 200],
  ['fails late', 400],
])(
  'the parts below a part of health that %s appear without it, and do not move when it arrives',
  async (_, status) => {
    const { page, today, letGo } = await withLateDiagnosis(status);
    const before = await today.boundingBox();
    await page.mouse.move(300, 300);
    letGo();
    const arrived = page.getByRole('button', { name: 'Show the diagnosis' });
    await arrived.waitFor();
    expect(await today.boundingBox()).toEqual(before);
    await arrived.press('Enter');
    await (status === 200 ? page.getByRole('heading', { name: 'Findings' }) : failureIn(page)).waitFor();
    // The diagnosis takes the focus of the button that it replaces.
    expect(await page.locator('.health > :focus').count()).toBe(1);
  },
);

test('a late part of health is shown at once if the person does not use the page', async () => {
  const { page, letGo } = await withLateDiagnosis(200);
  letGo();
  await page.getByRole('heading', { name: 'Findings' }).waitFor();
});

test('an unknown plan is explained by a version that is not deployed, or was changed since the run started', async () => {
  const page = await stage.browser.open(`/runs/${show.completed}`, {
    prepare: (one) =>
      one.route('**/v1/runs/*/graph*', async (route) => {
        const { nodes: _, ...graph } = (await (await route.fetch()).json()) as { readonly nodes?: unknown };
        await route.fulfill({ json: graph });
      }),
  });
  await page
    .getByText(
      'Version 1 of pay-invoice is not deployed as it was when the run started, so its plan is unknown.',
    )
    .waitFor();
});
