/** The console over plain HTTP on a network address, where browsers have neither a clipboard nor `randomUUID`. On the stage of `flows.test.ts`. */
import { expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { show, stage } from '../one-stage/showcase-stage.ts';
import { becomes } from '../support/becomes.ts';

const ORIGIN = 'http://cairn.example';

/** Returns a test on a page of that address. It ignores the answers still pending at its end. */
function over(path: () => string, use: (page: Page) => Promise<void>): () => Promise<void> {
  return async () => {
    const page = await open(path());
    await use(page);
    await page.unrouteAll({ behavior: 'ignoreErrors' });
  };
}

async function open(path: string): Promise<Page> {
  const page = await stage.browser.open(`${ORIGIN}${path}`, {
    allowed: [ORIGIN],
    prepare: async (one) => {
      await one.route(`${ORIGIN}/**`, async (route) => {
        const { pathname, search } = new URL(route.request().url());
        // The route forwards complete answers only, and a stream ends with its run.
        if (pathname.endsWith('/stream')) return route.abort();
        const url = `${stage.cloud.ready.gateway}${pathname}${search}`;
        const { host: _, origin: __, ...headers } = await route.request().allHeaders();
        const response = await route.fetch({ url, headers });
        // The browser ignores this header on plain HTTP, and logs that as an error.
        const { 'cross-origin-opener-policy': ___, ...kept } = response.headers();
        return route.fulfill({ response, headers: kept });
      });
    },
  });
  expect(await page.evaluate(() => [isSecureContext, 'clipboard' in navigator])).toEqual([false, false]);
  return page;
}

/** Pastes the clipboard. @returns the text */
async function pasted(page: Page): Promise<string> {
  const field = page.getByRole('search').getByRole('searchbox');
  await field.fill('');
  await field.press('Control+V');
  return field.inputValue();
}

test(
  'a text is copied without the clipboard API, and the focus stays',
  over(
    () => `/runs/${show.completed}`,
    async (page) => {
      const id = page.locator('.copy-text', { hasText: show.completed }).first();
      await id.click();
      await id.getByText('copied').waitFor();
      expect(await id.evaluate((button) => document.activeElement === button)).toBe(true);
      expect(await pasted(page)).toBe(show.completed);
    },
  ),
);

test(
  'a command is copied in a dialog without the clipboard API, and the focus stays in the dialog',
  over(
    () => `/runs/${show.asking}`,
    async (page) => {
      await page.getByRole('button', { name: 'Cancel', exact: true }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByText('As a command').click();
      const copy = dialog.getByRole('button', { name: 'Copy the cairn command' });
      await copy.click();
      await copy.getByText('Copied').waitFor();
      expect(await copy.evaluate((button) => document.activeElement === button)).toBe(true);
      await dialog.getByRole('button', { name: 'Close' }).first().click();
      expect(await pasted(page)).toContain(`cairn runs cancel ${show.asking}`);
    },
  ),
);

test(
  'the page advises to select the text if the browser refuses to copy',
  over(
    () => `/runs/${show.completed}`,
    async (page) => {
      await page.evaluate(() => {
        document.execCommand = () => false;
      });
      const id = page.locator('.copy-text', { hasText: show.completed }).first();
      await id.click();
      await id.getByText('not copied').waitFor();
      expect(await id.getAttribute('title')).toContain('select the text and copy it');
    },
  ),
);

test(
  'a run can be started from an insecure context',
  over(
    () => '/workflows/echo',
    async (page) => {
      await page.getByRole('button', { name: 'Start a run' }).click();
      const form = page.getByRole('dialog', { name: /^Start/ });
      await form.getByRole('textbox', { name: 'text' }).fill('over plain HTTP');
      await form.getByRole('button', { name: 'Start', exact: true }).click();
      await page.waitForURL(`${ORIGIN}/runs/run_*`);
      await becomes(() => page.locator('.run-status').textContent(), expect.stringContaining('completed'));
    },
  ),
);
