import { beforeAll, describe, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { eventually } from '../system/support.ts';
import { goTo, settled } from './support/browser.ts';
import { makeShowcase, type Showcase } from './support/showcase.ts';
import { setStage } from './support/stage.ts';
import { VIEWS } from './support/views.ts';

/** Markup, a script, an event handler, a style that hides the page, and a character that reverses the text direction. */
const HOSTILE =
  '"><img src=x onerror="window.taken=1"><script>window.taken=1</script><style>*{display:none}</style>\u202egnp.exe\u0000{{7*7}}';
const MEGABYTE = 1024 * 1024;
/** An ordinary page has a few hundred elements. */
const MAX_ELEMENTS = 3_000;

const stage = setStage({ fixture: 'showcase.ts' }, { pagesLast: true });
let show: Showcase;
let page: Page;
beforeAll(async () => {
  show = await makeShowcase(stage.cloud, HOSTILE);
  page = await stage.browser.open('/runs');
  page.on('dialog', (dialog) => dialog.dismiss());
});

describe('malicious texts are shown and have no effect', () => {
  test.each(VIEWS)('on $name', async ({ path, shows }) => {
    await goTo(page, path(show));
    await page.getByText(shows).first().waitFor();
    await settled(page);
    const found = await page.evaluate(() => ({
      taken: 'taken' in window,
      images: document.querySelectorAll('img[src="x"]').length,
      inlined: document.querySelectorAll('body script:not([type="module"]), body style').length,
      // The page must show the reversing character as visible text only, so that it reverses nothing.
      turned: document.body.textContent?.includes('\u202e') ?? false,
    }));
    expect(found).toEqual({ taken: false, images: 0, inlined: 0, turned: false });
  });
});

test('a megabyte in an input and an output is truncated, and shown on request', async () => {
  const text = `${HOSTILE}${'long '.repeat(MEGABYTE / 5)}`;
  const { runId } = await stage.cloud.call<{ runId: string }>('POST', '/v1/runs', {
    type: 'echo',
    input: { text },
  });
  await eventually('the run to end', async () => {
    const { status } = await stage.cloud.call<{ status: string }>('GET', `/v1/runs/${runId}`);
    return status === 'completed' ? true : undefined;
  });
  for (const tab of ['overview', 'journal', 'checkpoints']) {
    await goTo(page, `/runs/${runId}?tab=${tab}`);
    await page.getByText('say').locator('visible=true').first().waitFor();
    expect(await page.evaluate(() => document.querySelectorAll('*').length)).toBeLessThan(MAX_ELEMENTS);
    expect(await page.evaluate(() => document.body.textContent?.length ?? 0)).toBeLessThan(MEGABYTE / 4);
  }
});

test('a malicious address gets the page for unknown addresses', async () => {
  await page.goto(`/runs/${encodeURIComponent('<img src=x onerror=alert(1)>')}`);
  await page.getByText('onerror=alert(1)').first().waitFor();
  expect(await page.evaluate(() => document.querySelectorAll('img[src="x"]').length)).toBe(0);
});
