import { mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { beforeAll, describe, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { makeShowcase, type Showcase } from './support/showcase.ts';
import { setStage } from './support/stage.ts';
import { VIEWS } from './support/views.ts';

/** Where the pictures of the documentation are made: `CONSOLE_SCREENSHOTS=docs/console npm test -- test/console/every-page`. */
const PICTURES = process.env.CONSOLE_SCREENSHOTS;
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

const stage = setStage({ fixture: 'showcase.ts' });
let show: Showcase;
beforeAll(async () => {
  show = await makeShowcase(stage.cloud, 'for the office in March');
  if (PICTURES) mkdirSync(PICTURES, { recursive: true });
});

describe.each(['light', 'dark'] as const)('in %s colours', (colorScheme) => {
  test.each(VIEWS)('$name is whole, and no serious hindrance to anybody', async ({ name, path, shows }) => {
    const page = await stage.browser.open(path(show), { colorScheme, reducedMotion: 'reduce' });
    await page.getByText(shows).first().waitFor();
    await settled(page);
    if (PICTURES) await page.screenshot({ path: `${PICTURES}/${name}-${colorScheme}.png` });
    expect(await hindrances(page)).toEqual([]);
  });
});

/** Nothing says any more that it is coming. */
async function settled(page: Page): Promise<void> {
  await page.locator('.spinner').waitFor({ state: 'detached' });
  await page.evaluate(() => document.fonts.ready.then(() => undefined));
}

interface Violation {
  readonly id: string;
  readonly impact: string | null;
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
}

/** What axe-core calls serious or critical. Run by the debugger, as the page's own policy lets no script in. */
async function hindrances(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  const violations = await page.evaluate(async () => {
    const { axe } = globalThis as unknown as { axe: { run(): Promise<{ violations: Violation[] }> } };
    return (await axe.run()).violations;
  });
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(
      ({ id, nodes }) =>
        `${id}: ${nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`).join(' | ')}`,
    );
}
