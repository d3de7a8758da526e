/**
 * Debian's Chromium, driven through playwright-core, for one test file. Owns what holds of every page of every test: no
 * error in the page's console, nothing refused by its own policy, no request to another address.
 */
import type { BrowserContextOptions, Page } from 'playwright-core';
import { launchChromium } from '../../../bench/console/chromium.ts';
import { noteAdditions } from './undone.ts';

export interface Opening extends BrowserContextOptions {
  /** Before anything is asked for: where answers of other addresses are made up. */
  readonly prepare?: (page: Page) => Promise<unknown>;
  /** Addresses that may be asked beside the gateway; each must be answered by `prepare`. */
  readonly allowed?: readonly string[];
}

export interface TestBrowser {
  /**
   * A page of its own, as of somebody who has just come, at the path. It may be one that an earlier test has left, with nothing kept of that
   * test but the cache: to load the console takes a new page more than twice the processor time.
   */
  open(path: string, opening?: Opening): Promise<Page>;
  /** Leaves the pages open. @throws if one of them broke a rule of all pages since this was last asked */
  check(): void;
  /** Leaves or closes all pages. @throws if one of them broke a rule of all pages */
  settle(): Promise<void>;
  close(): Promise<void>;
}

const VIEWPORT = { width: 1280, height: 800 };
/**
 * A page has a process of its own all the same, since contexts share none. Otherwise Chromium starts another with each page, for the next
 * one, which most tests do not open.
 */
const WITHOUT_SPARES = ['--renderer-process-limit=1'];
/** A page lasts seconds: to compile its functions to machine code, on further threads, takes more processor time than it saves. */
const FOR_SHORT_PAGES = ['--js-flags=--no-opt --no-maglev --single-threaded-gc --min-semi-space-size=16'];
/** A page of the console's origin that runs nothing. The browser keeps its process meanwhile, with the code that is compiled. */
const RESTING_PLACE = '/favicon.svg';

/** A page in a context of its own. */
interface OpenPage {
  readonly page: Page;
  /** Pages of one kind may stand in for each other. None: the page is for one test. */
  readonly kind: string | undefined;
  /** @throws if something of the test would stay */
  undo(): Promise<void>;
}

/** @throws if there is none, with how to get one: console tests are not skipped */
export async function startBrowser(
  gateway: string,
  { hasScrollbars = false, fontPx = 16 } = {},
): Promise<TestBrowser> {
  const font = `--blink-settings=defaultFontSize=${fontPx}`;
  const browser = await launchChromium({
    flags: [...WITHOUT_SPARES, ...FOR_SHORT_PAGES, font],
    hasScrollbars,
  });
  const open: OpenPage[] = [];
  const resting: OpenPage[] = [];
  const broken: string[] = [];
  const check = () => {
    const found = broken.splice(0);
    if (found.length > 0) throw new Error(`pages broke rules:\n${found.join('\n')}`);
  };
  const create = async (options: BrowserContextOptions, allowed: readonly string[]) => {
    const context = await browser.newContext({
      baseURL: gateway,
      ...options,
    });
    // A slow machine is no failure; what never comes still fails within the time of a test.
    context.setDefaultTimeout(120_000);
    const page = await context.newPage();
    watch(page, [gateway, ...allowed], broken);
    return { page, undo: noteAdditions(page) };
  };
  const leave = async (left: OpenPage) => {
    try {
      if (left.kind === undefined) throw new Error('the page is for one test');
      await reset(left);
      resting.push(left);
    } catch {
      await left.page.context().close();
    }
  };
  return {
    check,
    async open(path, { prepare, allowed = [], viewport = VIEWPORT, ...opening } = {}) {
      // A page that moves is drawn sixty times a second for as long as a test waits.
      const { reducedMotion = 'reduce', ...options } = opening;
      const kind = allowed.length > 0 ? undefined : JSON.stringify(options);
      const at = resting.findIndex((rested) => rested.kind === kind);
      const [rested] = at < 0 ? [] : resting.splice(at, 1);
      const { page, undo } = rested ?? (await create(options, allowed));
      open.push({ page, kind, undo });
      await page.emulateMedia({
        media: null,
        forcedColors: null,
        colorScheme: options.colorScheme ?? 'light',
        reducedMotion,
      });
      if (viewport) await page.setViewportSize(viewport);
      await prepare?.(page);
      await page.goto(path);
      return page;
    },
    async settle() {
      await Promise.all(open.splice(0).map(leave));
      check();
    },
    close: () => browser.close(),
  };
}

/** Makes a page as one is that somebody has just opened. @throws if it cannot be: it must be closed */
async function reset({ page, undo }: OpenPage): Promise<void> {
  await undo();
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  await page.goto(RESTING_PLACE);
  await page.evaluate(() => {
    localStorage.clear();
    sessionStorage.clear();
  });
  // The pointer would hover over a part of the next test.
  await page.mouse.move(0, 0);
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
