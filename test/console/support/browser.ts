/**
 * Debian's Chromium, driven through playwright-core, for one test file. Owns what holds of every page of every test: no
 * error in the page's console, nothing refused by its own policy, no request to another address.
 */
import type { BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { launchChromium } from '../../../bench/console/chromium.ts';

export interface Opening extends BrowserContextOptions {
  /** Before anything is asked for: where answers of other addresses are made up. */
  readonly prepare?: (page: Page) => Promise<unknown>;
  /** Addresses that may be asked beside the gateway; each must be answered by `prepare`. */
  readonly allowed?: readonly string[];
}

export interface TestBrowser {
  /** A page of its own, as of somebody who has just come, at the path. */
  open(path: string, opening?: Opening): Promise<Page>;
  /** Leaves the pages open. @throws if one of them broke a rule of all pages since this was last asked */
  check(): void;
  /** Closes all pages. @throws if one of them broke a rule of all pages */
  settle(): Promise<void>;
  close(): Promise<void>;
}

/** @throws if there is none, with how to get one: console tests are not skipped */
export async function startBrowser(gateway: string): Promise<TestBrowser> {
  const browser = await launchChromium();
  const contexts: BrowserContext[] = [];
  const broken: string[] = [];
  const check = () => {
    const found = broken.splice(0);
    if (found.length > 0) throw new Error(`pages broke rules:\n${found.join('\n')}`);
  };
  return {
    check,
    async open(path, { prepare, allowed = [], ...options } = {}) {
      const context = await browser.newContext({
        baseURL: gateway,
        viewport: { width: 1280, height: 800 },
        ...options,
      });
      contexts.push(context);
      // A slow machine is no failure; what never comes still fails within the time of a test.
      context.setDefaultTimeout(120_000);
      const page = await context.newPage();
      watch(page, [gateway, ...allowed], broken);
      await prepare?.(page);
      await page.goto(path);
      return page;
    },
    async settle() {
      await Promise.all(contexts.splice(0).map((context) => context.close()));
      check();
    },
    close: () => browser.close(),
  };
}

function watch(page: Page, addresses: readonly string[], broken: string[]): void {
  page.on('pageerror', (error) => broken.push(`uncaught: ${error.stack ?? error.message}`));
  page.on('console', (message) => {
    // The page shows refusals of the API; the browser's own message about them is not an error.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
      broken.push(`console: ${message.text()}`);
  });
  page.on('request', (request) => {
    const url = request.url();
    const isOurs = addresses.some((address) => url.startsWith(`${address}/`));
    if (!isOurs && !url.startsWith('data:')) broken.push(`asked elsewhere: ${url}`);
  });
}

/** Goes to an address within the console that is open, as its links do: nothing is loaded anew but what the page asks for. */
export function goTo(page: Page, path: string): Promise<void> {
  return page.evaluate((to) => history.pushState(null, '', to), path);
}

/** Nothing says any more that it is coming. */
export function settled(page: Page): Promise<void> {
  return page.locator('.spinner').first().waitFor({ state: 'detached' });
}
