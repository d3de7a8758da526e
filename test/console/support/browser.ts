/**
 * Debian's Chromium, driven through playwright-core, for one test file. Owns the rules for every page of every test: no
 * error in the browser's console, no violation of the page's policy, no request to another origin.
 */
import type { BrowserContextOptions, Page } from 'playwright-core';
import { launchChromium } from '../../../bench/console/chromium.ts';
import { noteAdditions } from './undone.ts';

export interface Opening extends BrowserContextOptions {
  /** Runs before the page loads, for example to route requests. */
  readonly prepare?: (page: Page) => Promise<unknown>;
  /** Origins that the page may request besides the gateway. `prepare` must answer them. */
  readonly allowed?: readonly string[];
}

export interface TestBrowser {
  /**
   * Opens the path in a clean page: no storage, routes or listeners of an earlier test. The page may be reused with its
   * cache, because a new page takes more than twice the processor time to load the console.
   */
  open(path: string, opening?: Opening): Promise<Page>;
  /** @throws if a page broke a rule since the last check */
  check(): void;
  /** Ends the use of all pages. @throws if one of them broke a rule since the last check */
  settle(): Promise<void>;
  close(): Promise<void>;
}

const VIEWPORT = { width: 1280, height: 800 };
/**
 * Stops Chromium from starting a spare process for the next page, which most tests do not open. Pages still have separate
 * processes, because each has its own context.
 */
const WITHOUT_SPARES = ['--renderer-process-limit=1'];
/** Turns off optimisations that cost more processor time than they save in a page that lives for seconds. */
const FOR_SHORT_PAGES = ['--js-flags=--no-opt --no-maglev --single-threaded-gc --min-semi-space-size=16'];
/** Idle pages stay at an address of the console's origin without scripts, which keeps their process and its compiled code. */
const RESTING_PLACE = '/favicon.svg';

/** A page in a context of its own. */
interface OpenPage {
  readonly page: Page;
  /** Pages of the same kind are interchangeable. Undefined: the page is not reused. */
  readonly kind: string | undefined;
  /** @throws if something that the test added cannot be removed */
  undo(): Promise<void>;
}

/** @throws if Chromium is not installed, with how to install it: console tests are not skipped */
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
    // The limit allows for slow machines, and is shorter than that of a test.
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
      // Animations would redraw a waiting page sixty times a second.
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

/** Cleans a page for reuse. @throws if that is impossible: the page must be closed */
async function reset({ page, undo }: OpenPage): Promise<void> {
  await undo();
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  await page.goto(RESTING_PLACE);
  await page.evaluate(() => {
    localStorage.clear();
    sessionStorage.clear();
  });
  // The pointer would otherwise hover over a part of the next page.
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

/** Navigates within the open console like its links, without reloading the document. */
export function goTo(page: Page, path: string): Promise<void> {
  return page.evaluate((to) => history.pushState(null, '', to), path);
}

/** Waits until the page shows no spinner. */
export function settled(page: Page): Promise<void> {
  return page.locator('.spinner').first().waitFor({ state: 'detached' });
}
