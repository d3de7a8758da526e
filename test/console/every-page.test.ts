import { mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { goTo, settled } from './support/browser.ts';
import { makeShowcase, type Showcase } from './support/showcase.ts';
import { QUARTERED, SIZES } from './support/sizes.ts';
import { setStage } from './support/stage.ts';
import { OTHER_VIEWS, VIEWS } from './support/views.ts';

/** Folder for the pictures of the documentation: `CONSOLE_SCREENSHOTS=docs/console npm test -- test/console/every-page`. */
const PICTURES = process.env.CONSOLE_SCREENSHOTS;
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** They are the same at every size, and take the most time. */
const WITHOUT_COLOURS = { rules: { 'color-contrast': { enabled: false } } };

const stage = setStage({ fixture: 'showcase.ts' }, { pagesLast: true });
let show: Showcase;
let page: Page;
beforeAll(async () => {
  show = await makeShowcase(stage.cloud, 'for the office in March');
  if (PICTURES) mkdirSync(PICTURES, { recursive: true });
  page = await stage.browser.open('/runs', { colorScheme: 'light', reducedMotion: 'reduce' });
  await page.evaluate(AXE);
});

test.each(VIEWS)('$name is whole, and no serious hindrance to anybody', async ({ name, path, shows }) => {
  await goTo(page, path(show));
  await page.getByText(shows).first().waitFor();
  await settled(page);
  await page.evaluate(() => document.fonts.ready.then(() => undefined));
  await picture(name, 'light');
  expect(await hindrances(page)).toEqual([]);
  // In other colours only these are others.
  await page.emulateMedia({ colorScheme: 'dark' });
  await picture(name, 'dark');
  expect(await hindrances(page, { runOnly: ['color-contrast'] })).toEqual([]);
  await page.emulateMedia({ colorScheme: 'light' });
  for (const size of [SIZES.phone, SIZES.zoomed]) {
    await page.setViewportSize(size);
    expect([size.width, await hindrances(page, WITHOUT_COLOURS)]).toEqual([size.width, []]);
    expect(await beyond(page)).toEqual([]);
  }
  await page.setViewportSize(SIZES.desktop);
});

test.each(OTHER_VIEWS)(
  '$name is as wide as the screen, on a phone and at a zoom of 200 %',
  async ({ path, shows }) => {
    for (const size of [SIZES.phone, SIZES.zoomed]) {
      await page.setViewportSize(size);
      await goTo(page, path(show));
      await page.getByText(shows).first().waitFor();
      await settled(page);
      expect([size.width, await beyond(page)]).toEqual([size.width, []]);
    }
    await page.setViewportSize(SIZES.desktop);
  },
);

test('no page scrolls sideways at a zoom of 400 %', async () => {
  await page.setViewportSize(QUARTERED);
  for (const { path, shows } of VIEWS) {
    await goTo(page, path(show));
    // A column that is left out at this width is there all the same.
    await page.getByText(shows).first().waitFor({ state: 'attached' });
    await settled(page);
    expect([path(show), await beyond(page)]).toEqual([path(show), []]);
  }
  await page.setViewportSize(SIZES.desktop);
});

test('where the system forces colours, bars are seen and what is chosen is outlined', async () => {
  await page.emulateMedia({ forcedColors: 'active' });
  await goTo(page, `/runs/${show.failed}`);
  const paper = await styleOf('main', 'background-color');
  for (const part of ['.chart-row[data-step=book] .bar', '.drive'])
    expect(await styleOf(part, 'background-color')).not.toBe(paper);
  expect(await styleOf('.tabs a[aria-current]', 'outline-style')).toBe('solid');
  await goTo(page, '/runs?status=failed');
  expect(await styleOf('.chip[aria-pressed=true]', 'outline-style')).toBe('solid');
  await goTo(page, '/workflows/pay-invoice');
  expect(await styleOf('.over-time .completed', 'background-color')).not.toBe(paper);
  await page.emulateMedia({ forcedColors: 'none' });
});

test('a run is printed in dark on light, without what can only be pressed', async () => {
  await goTo(page, `/runs/${show.failed}`);
  await page.locator('.chart-row').first().waitFor();
  await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
  expect(await styleOf('main', 'color')).toBe('rgb(26, 33, 40)');
  for (const gone of ['.top', '.shell > nav', '.offers', 'main button:has-text("Run again")'])
    expect([gone, await page.locator(gone).first().isVisible()]).toEqual([gone, false]);
  for (const kept of ['h1', '.step-box', '.bar', '.copy-text'])
    expect([kept, await page.locator(kept).first().isVisible()]).toEqual([kept, true]);
  await page.emulateMedia({ media: 'screen', colorScheme: 'light' });
});

test('on a phone the head of a page is one line and the search, and no list of a page scrolls sideways', async () => {
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
function beyond(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const { documentElement: root } = document;
    if (root.scrollWidth <= root.clientWidth) return [];
    return [...document.querySelectorAll('main *')]
      .filter((one) => one.getBoundingClientRect().right > root.clientWidth + 1)
      .map((one) => one.outerHTML.slice(0, 200))
      .slice(0, 5);
  });
}

async function picture(name: string, colours: string): Promise<void> {
  if (PICTURES) await page.screenshot({ path: `${PICTURES}/${name}-${colours}.png` });
}

interface AxeOptions {
  readonly runOnly?: readonly string[];
  readonly rules?: Readonly<Record<string, { readonly enabled: boolean }>>;
}

interface Violation {
  readonly id: string;
  readonly impact: string | null;
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
}

interface Axe {
  run(options: object): Promise<{ violations: Violation[] }>;
  /** Internal, because the public list of rules leaves out their impact, which each finding of a rule has. */
  readonly _audit: { readonly rules: readonly { readonly id: string; readonly impact: string }[] };
}

/**
 * Serious and critical findings of axe-core, by the rules that can have such. Run by the debugger, because the page's policy allows no
 * scripts.
 *
 * @param rules options of axe; default: all those rules
 */
async function hindrances(page: Page, { rules, ...options }: AxeOptions = {}): Promise<string[]> {
  const violations = await page.evaluate(
    async ([more, switched]) => {
      const { axe } = globalThis as unknown as { axe: Axe };
      const slight = axe._audit.rules.filter(({ impact }) => impact === 'minor' || impact === 'moderate');
      const off = Object.fromEntries(slight.map(({ id }) => [id, { enabled: false }]));
      const options = { ...more, rules: { ...off, ...switched }, resultTypes: ['violations'] };
      return (await axe.run(options)).violations;
    },
    [options, rules] as const,
  );
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(
      ({ id, nodes }) =>
        `${id}: ${nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`).join(' | ')}`,
    );
}
