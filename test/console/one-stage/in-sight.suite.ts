/** Visibility: reasons of disabled buttons are in view, words are not broken, nothing overflows. On the stage of `flows.test.ts`. */
import { expect, test } from '@jest/globals';
import type { Locator } from 'playwright-core';
import { STATUSES } from '../../../packages/console/src/pages/runs/filter/filter.ts';
import { becomes } from '../support/becomes.ts';
import { startBrowser } from '../support/browser.ts';
import { SIZES } from '../support/sizes.ts';
import { show, stage } from './showcase-stage.ts';

/** Returns true if the middle of the part is in view and not covered. */
const isInSight = (part: Locator) =>
  part.evaluate((one) => {
    const { left, top, width, height } = one.getBoundingClientRect();
    const at = document.elementFromPoint(left + width / 2, top + height / 2);
    return at !== null && one.contains(at);
  });

test.each(Object.entries(SIZES))(
  '%s: a form shows beside its disabled button what is missing, until it is complete',
  async (_, viewport) => {
    const page = await stage.browser.open('/runs', { viewport });
    await page.getByRole('button', { name: 'Start a run' }).click();
    const dialog = page.getByRole('dialog');
    const lack = dialog.getByRole('status').filter({ hasText: /is required|Choose a workflow/ });
    const send = dialog.getByRole('button', { name: 'Start', exact: true });
    // The choice of a workflow would discard what was typed before it.
    expect(await dialog.getByRole('textbox', { name: 'Input' }).count()).toBe(0);
    for (const [workflow, text] of [
      ['', 'Choose a workflow.'],
      ['pay-invoice', 'invoice is required; text is required.'],
    ] as const) {
      if (workflow !== '') await dialog.getByLabel('Workflow').selectOption(workflow);
      await becomes(() => lack.allTextContents(), [text]);
      expect([workflow, await isInSight(lack), await isInSight(send)]).toEqual([workflow, true, true]);
      expect(await send.isDisabled()).toBe(true);
    }
    await dialog.getByRole('button', { name: 'Fill in examples' }).click();
    await lack.waitFor({ state: 'detached' });
    expect(await send.isEnabled()).toBe(true);
  },
);

test.each([
  ['Turn the kill switch on', '/workflows'],
  ['New schedule', '/schedules'],
  ['Legal hold', 'failed'],
  ['Suspend', 'asking'],
  ['Signal', 'asking'],
] as const)('the form %s shows what is missing', async (opener, at) => {
  const page = await stage.browser.open(at === 'failed' || at === 'asking' ? `/runs/${show[at]}` : at);
  await page.getByRole('button', { name: opener, exact: true }).click();
  const footer = page.getByRole('dialog').locator('footer');
  expect(await footer.getByRole('button').last().isDisabled()).toBe(true);
  await becomes(() => footer.getByRole('status').textContent(), expect.stringMatching(/^[A-Z].*\.$/));
});

test('an approval on a phone shows beside its disabled button what is missing', async () => {
  const body = { type: 'refund', input: { order: 'P-1' } };
  const { runId } = await stage.cloud.call<{ runId: string }>('POST', '/v1/runs', body);
  const page = await stage.browser.open('/inbox', { viewport: SIZES.phone });
  const card = page.locator('li.card', { has: page.locator(`a[href="/runs/${runId}"]`) });
  await card.getByRole('button', { name: 'Fill in and answer' }).click();
  const lack = page.getByRole('dialog').getByRole('status').filter({ hasText: 'cents is required' });
  await lack.waitFor();
  expect(await isInSight(lack)).toBe(true);
  await page.getByRole('radio', { name: 'Approve with a waiver' }).check();
  await becomes(
    () => page.getByRole('dialog').locator('footer [role=status]').textContent(),
    expect.stringMatching(/^A waiver needs a note\./),
  );
  // No step comes before the question.
  expect(await page.getByRole('radio', { name: 'Send back' }).count()).toBe(0);
  await stage.cloud.call('POST', `/v1/runs/${runId}/cancel`, { reason: 'only a test' });
});

test.each([480, 560, 720])(
  'a refusal is shown whole above the buttons of its form, in a window %d px high',
  async (height) => {
    const page = await stage.browser.open('/workflows/gift', { viewport: { width: 1280, height } });
    await page.getByRole('button', { name: 'Start a run' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('textbox', { name: 'cents' }).fill('-3');
    await dialog.getByRole('textbox', { name: 'to' }).fill('nobody');
    await dialog.getByRole('button', { name: 'Start', exact: true }).click();
    await dialog.getByRole('alert').waitFor();
    const isAbove = async () => {
      const alert = await dialog.getByRole('alert').boundingBox();
      const footer = await dialog.locator('footer').boundingBox();
      return alert !== null && footer !== null && alert.y + alert.height <= footer.y;
    };
    await becomes(isAbove, true);
  },
);

test('a fact of a step is left out, not cut, if it does not fit beside the status', async () => {
  const page = await stage.browser.open(`/runs/${show.completed}`);
  const box = page.locator('.graph button[data-step=check-line]');
  await box.waitFor();
  const shown = () =>
    box.evaluate((one) => {
      const { right, bottom } = one.getBoundingClientRect();
      const extras = [...one.querySelectorAll('.step-extras > span')].map((extra) => ({
        text: extra.textContent,
        box: extra.getBoundingClientRect(),
      }));
      const inside = extras.filter(({ box }) => box.top < bottom - 2);
      return {
        texts: inside.map(({ text }) => text),
        isWhole: inside.every(({ box }) => box.right <= right - 8 && box.bottom <= bottom),
        isInBounds: one.scrollWidth <= one.clientWidth,
      };
    });
  await becomes(shown, { texts: ['3/3', expect.any(String)], isWhole: true, isInBounds: true });
  await box.evaluate((one) => {
    const [items, time] = one.querySelectorAll('.step-extras > span');
    if (items) items.textContent = '1000/1000';
    if (time) time.textContent = '13m 20s';
  });
  expect(await shown()).toEqual({ texts: ['1000/1000'], isWhole: true, isInBounds: true });
});

test.each([768, 1000, 1280])('the status of a run is fully visible at a width of %i px', async (width) => {
  const page = await stage.browser.open('/runs?type=pay-invoice&sort=oldest', {
    viewport: { width, height: 800 },
  });
  const status = page.locator(`#row-${show.asking} [data-status=awaiting_approval]`);
  await status.waitFor();
  const isWhole = await status.evaluate((one) => {
    const cell = one.closest('.c-status');
    if (cell === null) throw new Error('the status is in no cell');
    const inner = cell.getBoundingClientRect().right - Number.parseFloat(getComputedStyle(cell).paddingRight);
    return one.getBoundingClientRect().right <= inner + 1;
  });
  expect(isWhole).toBe(true);
});

test.each([
  [1280, 4],
  [1000, 4],
])('the number of steps in the list of runs is whole at a width of %i px', async (width, digits) => {
  // Other tests add runs below this row.
  const oldest = '/runs?type=pay-invoice&sort=oldest';
  const page = await stage.browser.open(oldest, { viewport: { width, height: 800 } });
  const done = page.locator(`#row-${show.completed} .c-steps > span`).first();
  await done.waitFor();
  const isWhole = await done.evaluate((one, many) => {
    one.textContent = `${(10 ** many).toLocaleString('en')} done`;
    return (
      one.scrollWidth <= one.clientWidth && one.parentElement?.scrollWidth === one.parentElement?.clientWidth
    );
  }, digits);
  expect(isWhole).toBe(true);
});

/** Lists the words in the parts that are broken over several lines. */
const brokenIn = (parts: Locator) =>
  parts.evaluateAll((all) => {
    const range = document.createRange();
    return all.flatMap((one) =>
      [...one.childNodes]
        .filter((node) => node instanceof Text)
        .flatMap((node) =>
          [...(node.textContent ?? '').matchAll(/\S+/g)].flatMap(({ 0: word, index }) => {
            range.setStart(node, index);
            range.setEnd(node, index + word.length);
            return range.getClientRects().length > 1 ? [word] : [];
          }),
        ),
    );
  });

test('the workflow and step of a cause are not broken beside a long error', async () => {
  const page = await stage.browser.open('/inbox');
  await page.route('**/v1/runs/statistics*', async (route) => {
    const answer = (await (await route.fetch()).json()) as { causes: readonly { last: object }[] };
    const causes = answer.causes.map((cause) => ({
      ...{ ...cause, type: 'payments', step: 'transfers' },
      last: { ...cause.last, message: 'no'.repeat(70) },
    }));
    await route.fulfill({ json: { ...answer, causes } });
  });
  await page.goto('/runs?status=failed');
  await page.getByText('Failures by cause').click();
  const names = page.locator('.causes td:is([data-label=Workflow], [data-label=Step]) .value');
  await names.first().waitFor();
  expect(await brokenIn(names)).toEqual([]);
});

test('the longest names of a run and a step fit their page, also at 320 px', async () => {
  const type = `${'settlement.'.repeat(9)}x.${'part-'.repeat(20)}`;
  const step = `${'s'.repeat(100)}[${'o'.repeat(100)}]`;
  const page = await stage.browser.open('/inbox', { viewport: { width: 320, height: 640 } });
  await page.route(`**/v1/runs/${show.completed}`, async (route) => {
    const run = (await (await route.fetch()).json()) as object;
    await route.fulfill({ json: { ...run, type } });
  });
  await page.goto(`/runs/${show.completed}?step=${encodeURIComponent(step)}`);
  const panel = page.getByRole('region', { name: 'The selected step' });
  expect(await panel.getByRole('heading', { level: 2 }).textContent()).toBe(step);
  const heading = page.getByRole('heading', { level: 1 });
  expect(await heading.textContent()).toContain(`${type} v`);
  for (const one of [heading, panel]) {
    const box = await one.boundingBox();
    expect((box?.x ?? 0) + (box?.width ?? Number.NaN)).toBeLessThanOrEqual(320);
  }
});

test.each([320, 390, 430])('no word of any status is broken in a row of %i px', async (width) => {
  const page = await stage.browser.open('/runs?status=completed', { viewport: { width, height: 640 } });
  const shown = page.locator('[id^=row-] [data-status=completed]').first();
  await shown.waitFor();
  for (const status of STATUSES) {
    await shown.evaluate(
      (one, word) => {
        if (!(one.lastChild instanceof Text)) throw new Error('the status has no text');
        one.lastChild.textContent = word;
      },
      status.replaceAll('_', ' '),
    );
    expect([status, await brokenIn(shown)]).toEqual([status, []]);
  }
});

test.each([
  ['a preview', 'failed', 'Replay', /to run/],
  ['a bulk change', '/runs?type=pay-invoice', 'Cancel all…', /will be cancelled/],
  ['an answer', 'asking', 'Answer approve', /Pay A-1\?/],
] as const)('%s is within its form at a zoom of 400 %', async (_, at, opener, shows) => {
  const path = at === 'failed' || at === 'asking' ? `/runs/${show[at]}` : at;
  const page = await stage.browser.open(path, { viewport: { width: 1280, height: 640 } });
  const dialog = page.getByRole('dialog');
  await page.getByRole('button', { name: opener }).first().click();
  await dialog.getByText(shows).first().waitFor();
  await page.setViewportSize({ width: 320, height: 640 });
  const beyond = await dialog.evaluate((one) => {
    const { right } = one.getBoundingClientRect();
    return [...one.querySelectorAll('*')]
      .filter(
        (part) =>
          part.getBoundingClientRect().right > right && !part.closest('.json-tree, pre, .stacks thead'),
      )
      .map((part) => part.outerHTML.slice(0, 80));
  });
  expect(beyond).toEqual([]);
});

test('below a long list, the last answer and the selection are both in view until the next approval', async () => {
  const start = async (order: string) => {
    const body = { type: 'pay-invoice', input: { invoice: order, text: 'in sight' } };
    return (await stage.cloud.call<{ runId: string }>('POST', '/v1/runs', body)).runId;
  };
  const [rejected, approved] = [await start('S-1'), await start('S-2')];
  const page = await stage.browser.open('/inbox', { viewport: { width: 1280, height: 400 } });
  const cardOf = (id: string | undefined) =>
    page.locator('li.card', { has: page.locator(`a[href="/runs/${id}"]`) });
  await cardOf(rejected).getByRole('button', { name: 'Reject', exact: true }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Reject', exact: true }).click();
  const answered = page.getByRole('status').filter({ hasText: 'Rejected.' });
  await answered.waitFor();
  await cardOf(approved).getByRole('checkbox').check();
  const chosen = page.getByRole('region', { name: 'Selected approvals' });
  await page.locator('.inbox > li').last().scrollIntoViewIfNeeded();
  await becomes(async () => {
    const [above, below] = [await answered.boundingBox(), await chosen.boundingBox()];
    return above !== null && below !== null && above.y >= 0 && above.y + above.height <= below.y;
  }, true);
  await chosen.getByRole('button', { name: 'Approve selected' }).click();
  await answered.waitFor({ state: 'detached' });
});

test.each(Object.entries(SIZES))('%s: no button covers the graph', async (_, viewport) => {
  const page = await stage.browser.open(`/runs/${show.completed}`, { viewport });
  const drawing = page.locator('.graph .react-flow');
  await drawing.locator('.step-box').first().waitFor();
  const over = await drawing.evaluate((one) => {
    const { left, top, right, bottom } = one.getBoundingClientRect();
    return [...document.querySelectorAll('.graph button:not(.step-box)')]
      .filter((button) => {
        const box = button.getBoundingClientRect();
        return box.left < right && left < box.right && box.top < bottom && top < box.bottom;
      })
      .map((button) => button.textContent);
  });
  expect(over).toEqual([]);
  expect(await page.getByRole('group', { name: 'Zoom' }).getByRole('button').count()).toBe(3);
});

test.each([
  ['of an ordinary size', 16],
  ['twice as large', 32],
])('the navigation shows the links to all pages at 320 px, with text %s', async (_, fontPx) => {
  const browser = await startBrowser(stage.cloud.ready.gateway, { fontPx });
  try {
    const page = await browser.open('/runs', { viewport: { width: 320, height: 640 } });
    const links = page.getByRole('navigation', { name: 'Pages' }).getByRole('link');
    await links.locator('.count').waitFor();
    const boxes = await Promise.all((await links.all()).map((link) => link.boundingBox()));
    expect(boxes.filter((box) => box && box.x >= 0 && box.x + box.width <= 320)).toHaveLength(5);
    if (fontPx === 16) expect(new Set(boxes.map((box) => box?.y)).size).toBe(1);
    for (const [name, path] of [
      ['Health', '/health'],
      ['Schedules', '/schedules'],
    ] as const) {
      const box = await links.filter({ hasText: name }).boundingBox();
      await page.mouse.click((box?.x ?? -1) + 5, (box?.y ?? -1) + 10);
      await page.waitForURL(`**${path}`);
    }
    browser.check();
  } finally {
    await browser.close();
  }
});
