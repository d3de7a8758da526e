import { mkdirSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { addAxe, violationsOf } from './support/axe.ts';
import { goTo, settled } from './support/browser.ts';
import { makeShowcase, type Showcase } from './support/showcase.ts';
import { QUARTERED, SIZES } from './support/sizes.ts';
import { setStage } from './support/stage.ts';
import { load, STATES } from './support/states.ts';
import { OTHER_VIEWS, VIEWS } from './support/views.ts';

/** Folder for the pictures of the documentation: `CONSOLE_SCREENSHOTS=docs/console npm test -- test/console/every-page`. */
const PICTURES = process.env.CONSOLE_SCREENSHOTS;

const stage = setStage({ fixture: 'showcase.ts' }, { pagesLast: true });
let show: Showcase;
let page: Page;
beforeAll(async () => {
  show = await makeShowcase(stage.cloud, 'for the office in March');
  if (PICTURES) mkdirSync(PICTURES, { recursive: true });
  page = await stage.browser.open('/runs', { colorScheme: 'light', reducedMotion: 'reduce' });
  await addAxe(page);
});

test.each(VIEWS)('$name is complete and accessible', async ({ name, path, shows }) => {
  await goTo(page, path(show));
  await page.getByText(shows).first().waitFor();
  await settled(page);
  await page.evaluate(() => document.fonts.ready.then(() => undefined));
  await picture(name, 'light');
  await examine(() => picture(name, 'dark'));
  await page.setViewportSize(SIZES.zoomed);
  expect(await violationsOf(page, 'the rest')).toEqual([]);
  expect(await overflowing(page)).toEqual([]);
  await page.setViewportSize(SIZES.desktop);
});

test.each(OTHER_VIEWS)(
  '$name is accessible, and as wide as the screen on a phone and at a zoom of 200 %',
  async ({ path, shows }) => {
    await goTo(page, path(show));
    await page.getByText(shows).first().waitFor();
    await settled(page);
    await examine();
    await page.setViewportSize(SIZES.zoomed);
    expect(await overflowing(page)).toEqual([]);
    await page.setViewportSize(SIZES.desktop);
  },
);

describe('states without an address:', () => {
  test.each(STATES)(
    '$name is accessible, and as wide as the screen',
    async ({ path, reach, breaks, needsReload }) => {
      // Going to another page closes what an earlier state opened.
      await goTo(page, '/nothing');
      await page.getByText('Nothing is here').waitFor();
      await goTo(page, path(show));
      try {
        await reach(page, show);
        await examine();
        await page.setViewportSize(SIZES.zoomed);
        expect(await overflowing(page)).toEqual([]);
      } finally {
        await page.setViewportSize(SIZES.desktop);
        await page.keyboard.press('Escape');
        await page.unrouteAll();
        if (needsReload) await load(page, '/inbox');
      }
      if (breaks) expect(() => stage.browser.check()).toThrow(breaks);
    },
  );

  // The page still shows the empty lists and failures of the last states.
  afterAll(() => load(page, '/runs'));
});

test('no page scrolls sideways at a zoom of 400 %', async () => {
  await page.setViewportSize(QUARTERED);
  for (const { path, shows } of VIEWS) {
    await goTo(page, path(show));
    // Columns hidden at this width are still in the document.
    await page.getByText(shows).first().waitFor({ state: 'attached' });
    await settled(page);
    expect([path(show), await overflowing(page)]).toEqual([path(show), []]);
  }
  await page.setViewportSize(SIZES.desktop);
});

test('with text of twice the size, no page scrolls sideways on a phone, and checkboxes grow too', async () => {
  const textSize = await page.context().newCDPSession(page);
  const setText = (standard: number) => textSize.send('Page.setFontSizes', { fontSizes: { standard } });
  await page.setViewportSize(SIZES.phone);
  try {
    await setText(32);
    for (const { path, shows } of VIEWS) {
      await goTo(page, path(show));
      await page.getByText(shows).first().waitFor({ state: 'attached' });
      await settled(page);
      expect([path(show), await overflowing(page)]).toEqual([path(show), []]);
    }
    await goTo(page, '/runs');
    expect((await page.getByRole('checkbox').first().boundingBox())?.width).toBeCloseTo(26, 0);
  } finally {
    await setText(16);
    await textSize.detach();
    await page.setViewportSize(SIZES.desktop);
  }
});

test('with forced colours, bars are visible and the selection is outlined', async () => {
  await page.emulateMedia({ forcedColors: 'active' });
  await goTo(page, `/runs/${show.failed}`);
  const paper = await styleOf('main', 'background-color');
  for (const part of ['.chart-row[data-step=book] .bar', '.dispatch'])
    expect(await styleOf(part, 'background-color')).not.toBe(paper);
  expect(await styleOf('.tabs a[aria-current]', 'outline-style')).toBe('solid');
  await goTo(page, '/runs?status=failed');
  expect(await styleOf('.chip[aria-pressed=true]', 'outline-style')).toBe('solid');
  await goTo(page, '/workflows/pay-invoice');
  expect(await styleOf('.over-time .completed', 'background-color')).not.toBe(paper);
  await page.emulateMedia({ forcedColors: 'none' });
});

test('a run is printed dark on light, without controls', async () => {
  await goTo(page, `/runs/${show.failed}`);
  const kept = ['h1', '.step-box', '.bar', '.copy-text'];
  for (const part of [...kept, '.chart-row']) await page.locator(part).first().waitFor();
  await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
  expect(await styleOf('main', 'color')).toBe('rgb(26, 33, 40)');
  for (const gone of ['.top', '.shell > nav', '.offers', 'main button:has-text("Run again")'])
    expect([gone, await page.locator(gone).first().isVisible()]).toEqual([gone, false]);
  for (const part of kept) expect([part, await page.locator(part).first().isVisible()]).toEqual([part, true]);
  await page.emulateMedia({ media: 'screen', colorScheme: 'light' });
});

test('on a phone the page header is one line plus the search, and no list scrolls sideways', async () => {
  await page.setViewportSize(SIZES.phone);
  for (const path of [
    '/workflows',
    '/schedules',
    '/health',
    '/runs?q=invoice-A-4',
    '/workflows/pay-invoice',
  ]) {
    await goTo(page, path);
    await page.locator('.scrolls').first().waitFor();
    await settled(page);
    const tops = await page
      .locator('.top > :not(search)')
      .evaluateAll((all) =>
        all.map((one) => one.getBoundingClientRect()).map(({ top, bottom }) => top + bottom),
      );
    for (const top of tops) expect(Math.abs(top - (tops[0] ?? 0))).toBeLessThan(8);
    const wide = await page
      .locator('.scrolls')
      .evaluateAll((all) =>
        all
          .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)
          .map((one) => one.getAttribute('aria-label')),
      );
    expect([path, wide]).toEqual([path, []]);
  }
  await page.setViewportSize(SIZES.desktop);
});

function styleOf(part: string, property: string): Promise<string> {
  return page
    .locator(part)
    .first()
    .evaluate((one, name) => getComputedStyle(one).getPropertyValue(name), property);
}

/** The elements beyond the right edge of a page that scrolls sideways. */
function overflowing(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const { documentElement: root } = document;
    if (root.scrollWidth <= root.clientWidth) return [];
    return [...document.querySelectorAll('main *')]
      .filter((one) => one.getBoundingClientRect().right > root.clientWidth + 1)
      .map((one) => one.outerHTML.slice(0, 200))
      .slice(0, 5);
  });
}

/** Checks the page by all rules on a desktop, by the colour rules in dark and forced colours, and on a phone for overflow too. */
async function examine(inTheDark = async () => {}): Promise<void> {
  expect(await violationsOf(page, 'all')).toEqual([]);
  await page.emulateMedia({ colorScheme: 'dark' });
  await inTheDark();
  expect(await violationsOf(page, 'colours')).toEqual([]);
  await page.emulateMedia({ colorScheme: 'light', forcedColors: 'active' });
  expect(await violationsOf(page, 'colours')).toEqual([]);
  await page.emulateMedia({ forcedColors: 'none' });
  await page.setViewportSize(SIZES.phone);
  expect(await violationsOf(page, 'the rest')).toEqual([]);
  expect(await overflowing(page)).toEqual([]);
  await page.setViewportSize(SIZES.desktop);
}

async function picture(name: string, colours: string): Promise<void> {
  if (PICTURES) await page.screenshot({ path: `${PICTURES}/${name}-${colours}.png` });
}
