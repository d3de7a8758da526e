/**
 * Speed of a console page as seen by its user: first content, response time of actions, memory. Measured by the
 * browser.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Browser, CDPSession, Page } from 'playwright-core';

/** Notes in the page when its first row stood there, and each thing done that took longer than a frame. */
const WATCH = `
  globalThis.seen = { firstMs: undefined, slowest: { ms: 0, name: '' }, longestTaskMs: 0 };
  new MutationObserver((_, observer) => {
    if (!document.querySelector(globalThis.seenAt)) return;
    requestAnimationFrame(() => setTimeout(() => { globalThis.seen.firstMs = performance.now(); }));
    observer.disconnect();
  }).observe(document, { childList: true, subtree: true });
  new PerformanceObserver((list) => {
    for (const { duration, name } of list.getEntries())
      if (duration > globalThis.seen.slowest.ms) globalThis.seen.slowest = { ms: duration, name };
  }).observe({ type: 'event', durationThreshold: 16 });
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries())
      globalThis.seen.longestTaskMs = Math.max(globalThis.seen.longestTaskMs, duration);
  }).observe({ type: 'longtask' });
`;

export interface Seen {
  /** From the beginning of the navigation until the first row had been drawn; undefined: it has not. */
  readonly firstMs?: number;
  /** From what one does to the next drawing, the longest. */
  readonly slowest: { readonly ms: number; readonly name: string };
  readonly longestTaskMs: number;
}

/** @param first selector of what there is to see */
export async function openWatched(browser: Browser, address: string, first: string): Promise<Page> {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  await page.addInitScript(`globalThis.seenAt = ${JSON.stringify(first)};${WATCH}`);
  await page.goto(address);
  await page.locator(first).first().waitFor();
  await until(page, 'globalThis.seen.firstMs !== undefined');
  return page;
}

const LOOK_EVERY_MS = 10;
const LIMIT_MS = 30_000;

/** The browser's own way to wait for an expression is to evaluate text in the page, which the page's policy forbids. */
export async function until(page: Page, expression: string): Promise<void> {
  const deadline = performance.now() + LIMIT_MS;
  while (!(await page.evaluate(expression))) {
    if (performance.now() > deadline) throw new Error(`it did not come to be that ${expression}`);
    await delay(LOOK_EVERY_MS);
  }
}

export function seenOf(page: Page): Promise<Seen> {
  return page.evaluate('globalThis.seen');
}

/** Forgets what has been slow so far. */
export async function watchAnew(page: Page): Promise<void> {
  await page.evaluate(`Object.assign(globalThis.seen, { slowest: { ms: 0, name: '' }, longestTaskMs: 0 })`);
}

/** Memory of the page's scripts, MB, after garbage collection. */
export async function heapMb(page: Page): Promise<number> {
  const session: CDPSession = await page.context().newCDPSession(page);
  await session.send('HeapProfiler.collectGarbage');
  const { usedSize } = await session.send('Runtime.getHeapUsage');
  await session.detach();
  return Math.round(usedSize / 100_000) / 10;
}
