/**
 * Speed of a console page as seen by its user: first content, response time of actions, memory. Measured by the
 * browser.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Browser, CDPSession, Page } from 'playwright-core';
import { median } from '../statistics.ts';

/** Records in the page when its first row was drawn, and the duration of interactions longer than a frame. */
const WATCH = `
  globalThis.seen = { firstMs: undefined, interactions: new Map(), before: 0, longestTaskMs: 0 };
  new MutationObserver((_, observer) => {
    if (!document.querySelector(globalThis.seenAt)) return;
    requestAnimationFrame(() => setTimeout(() => {
      globalThis.seen.firstMs = performance.now();
      globalThis.onFirstSeen('');
    }));
    observer.disconnect();
  }).observe(document, { childList: true, subtree: true });
  new PerformanceObserver((list) => {
    const { interactions } = globalThis.seen;
    for (const { duration, interactionId } of list.getEntries())
      if (interactionId) interactions.set(interactionId, Math.max(duration, interactions.get(interactionId) ?? 0));
  }).observe({ type: 'event', durationThreshold: 16 });
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries())
      globalThis.seen.longestTaskMs = Math.max(globalThis.seen.longestTaskMs, duration);
  }).observe({ type: 'longtask' });
`;

export interface Seen {
  /** From the start of the navigation until the first row was drawn; undefined if it was not. */
  readonly firstMs?: number;
  /**
   * Interaction to Next Paint, ms (https://web.dev/articles/inp): the longest time from a key, click or tap to the next drawing,
   * without the longest of each fifty.
   */
  readonly inpMs: number;
  readonly interactions: number;
  readonly longestTaskMs: number;
}

/** @param first selector of the first content */
export async function openWatched(browser: Browser, address: string, first: string): Promise<Page> {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  await page.addInitScript(`globalThis.seenAt = ${JSON.stringify(first)};${WATCH}`);
  const session = await page.context().newCDPSession(page);
  // The page reports by itself, because the repeated search of a locator would slow the load by 40 ms.
  const seen = new Promise<void>((resolve) => session.once('Runtime.bindingCalled', () => resolve()));
  await session.send('Runtime.enable');
  await session.send('Runtime.addBinding', { name: 'onFirstSeen' });
  await page.goto(address);
  await Promise.race([seen, failedAfter(LIMIT_MS, `nothing was seen of ${first}`)]);
  await session.detach();
  return page;
}

async function failedAfter(ms: number, what: string): Promise<never> {
  await delay(ms, undefined, { ref: false });
  throw new Error(`${what} within ${ms} ms`);
}

const LOOK_EVERY_MS = 10;
const LIMIT_MS = 30_000;

/** Replaces `waitForFunction`, which evaluates text in the page; the page's content security policy forbids that. */
export async function until(page: Page, expression: string): Promise<void> {
  const deadline = performance.now() + LIMIT_MS;
  while (!(await page.evaluate(expression))) {
    if (performance.now() > deadline) throw new Error(`it did not come to be that ${expression}`);
    await delay(LOOK_EVERY_MS);
  }
}

export function seenOf(page: Page): Promise<Seen> {
  return page.evaluate(`(() => {
    const { firstMs, interactions, before, longestTaskMs } = globalThis.seen;
    const count = performance.interactionCount - before;
    const slowest = [...interactions.values()].sort((a, b) => b - a);
    return { firstMs, inpMs: slowest[Math.floor(count / 50)] ?? 0, interactions: count, longestTaskMs };
  })()`);
}

const VIEWS = 5;

/** @returns the median of several first views, and the last page */
export async function firstView(
  browser: Browser,
  address: string,
  first: string,
): Promise<{ readonly page: Page; readonly firstMs: number }> {
  const times: number[] = [];
  for (;;) {
    const page = await openWatched(browser, address, first);
    const { firstMs = Number.POSITIVE_INFINITY } = await seenOf(page);
    times.push(firstMs);
    if (times.length === VIEWS) return { page, firstMs: Math.round(median(times)) };
    await page.close();
  }
}

/** Repetition interval of a held key, ms. Faster presses would wait for the previous drawing. */
const KEY_EVERY_MS = 33;

/** Repeats a key like a held one. */
export async function hold(page: Page, key: string, times: number): Promise<void> {
  for (let time = 0; time < times; time += 1) {
    await page.keyboard.press(key);
    await delay(KEY_EVERY_MS);
  }
}

/** Resets the recorded interactions. */
export async function watchAnew(page: Page): Promise<void> {
  await page.evaluate(
    `Object.assign(globalThis.seen, { interactions: new Map(), before: performance.interactionCount, longestTaskMs: 0 })`,
  );
}

/** Memory of the page's scripts, MB, after garbage collection. */
export async function heapMb(page: Page): Promise<number> {
  const session: CDPSession = await page.context().newCDPSession(page);
  await session.send('HeapProfiler.collectGarbage');
  const { usedSize } = await session.send('Runtime.getHeapUsage');
  await session.detach();
  return Math.round(usedSize / 100_000) / 10;
}
