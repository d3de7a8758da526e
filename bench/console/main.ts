/**
 * `npm run bench:console [-- RUNS [STEPS]]`: measures pages of the console in a browser: a list of ten thousand runs, a new run
 * in it, a run of five thousand steps, and one with two hundred children. Owns the limits; the exit code is 1 if one is exceeded.
 * Prints one line of JSON.
 */
import { loadavg } from 'node:os';
import type { Page } from 'playwright-core';
import { startMeasuredCloud } from '../cloud/measured-cloud.ts';
import { launchChromium } from './chromium.ts';
import { lookAtLongRun } from './long-run.ts';
import { writeRuns } from './many-runs.ts';
import { newRunsSeen } from './new-run.ts';
import { firstView, heapMb, hold, openWatched, seenOf, until, watchAnew } from './seen.ts';
import { lookAtTree } from './tree.ts';

const [RUNS = 10_000, STEPS = 5_000] = process.argv.slice(2).map(Number);
const FIRST_VIEW_MS = 800;
const INTERACTION_MS = 100;
/** From the start request of a run to its row. The slower half is ignored, because the machine is shared. */
const NEW_RUN_MS = 300;
/** Allowed memory growth of a scrolled list, compared with a new one. */
const GROWTH_MB = 12;
const MAX_ROWS = 60;

const ROW = '.run-rows [role=row]:not(.coming)';
/** The heap is comparable only after code was compiled and the first pages were replaced. */
const WARM_ENDS = 3;
/** Enough presses of End to load more, even on a busy machine. */
const PRESSES_FOR_MORE = 20;

/** One of the lengths in bench/functions.ts. */
const LONG = `seq-${STEPS}`;
const MAX_ELEMENTS = 4_000;
const CHILDREN = 200;

await using cloud = await startMeasuredCloud({ data: 'memory', workers: 1 });
const { client, ready } = cloud;
const first = await client.start('seq-3');
while ((await client.run(first)).status !== 'completed')
  await new Promise((resolve) => setTimeout(resolve, 50));
const long = await client.start(LONG);
while ((await client.run(long)).status !== 'completed')
  await new Promise((resolve) => setTimeout(resolve, 250));
const parent = await client.start(`tree-${CHILDREN}`);
while ((await client.run(parent)).status !== 'completed')
  await new Promise((resolve) => setTimeout(resolve, 250));
const seededAt = performance.now();
await writeRuns(ready, first, RUNS);
const seededMs = Math.round(performance.now() - seededAt);

const browser = await launchChromium();
try {
  const page = await openWatched(browser, `${ready.gateway}/runs`, ROW);
  const cold = await seenOf(page);
  await page.close();
  const { page: again, firstMs } = await firstView(browser, `${ready.gateway}/runs`, ROW);

  const newRuns = await newRunsSeen(again, client);
  await toEnds(again, WARM_ENDS);
  const before = await heapMb(again);
  await watchAnew(again);
  const pages = await toEnds(again, Math.ceil(RUNS / 100));
  if ((await rowCount(again)) < RUNS / 2) throw new Error('the list ended before half of the runs');
  const rows = await again.locator(ROW).count();
  const scrolled = await seenOf(again);
  const growthMb = Math.round((await heapMb(again)) * 10 - before * 10) / 10;
  await watchAnew(again);
  await walk(again);
  const walked = await seenOf(again);

  const longRun = await lookAtLongRun(browser, `${ready.gateway}/runs/${long}`);
  const tree = await lookAtTree(browser, `${ready.gateway}/runs/${parent}`, CHILDREN);

  const kept = {
    firstView: firstMs <= FIRST_VIEW_MS,
    interactions: Math.max(scrolled.inpMs, walked.inpMs) <= INTERACTION_MS,
    memory: growthMb <= GROWTH_MB,
    rows: rows <= MAX_ROWS,
    longRunFirstView: longRun.stepsMs <= FIRST_VIEW_MS,
    longRunInteractions: longRun.looked.inpMs <= INTERACTION_MS,
    newRun: (newRuns[Math.floor(newRuns.length / 2)] ?? Number.POSITIVE_INFINITY) <= NEW_RUN_MS,
    treeFirstView: tree.treeMs <= FIRST_VIEW_MS,
    treeInteractions: tree.looked.inpMs <= INTERACTION_MS,
    longRunElements: longRun.elements <= MAX_ELEMENTS,
  };
  const line = {
    runs: RUNS,
    seededMs,
    coldMs: cold.firstMs,
    firstMs,
    scrolled,
    walked,
    pages,
    rows,
    heapMb: before,
    growthMb,
    longRun,
    newRuns,
    tree,
    kept,
    load: loadavg()[0],
  };
  process.stdout.write(`${JSON.stringify(line)}\n`);
  if (Object.values(kept).includes(false)) process.exitCode = 1;
} finally {
  await browser.close();
}

/**
 * Presses End until nothing more is loaded, or up to the limit. A press has no effect before the row that loads more is drawn.
 *
 * @returns number of times that more was loaded
 */
async function toEnds(page: Page, most: number): Promise<number> {
  let ends = 0;
  for (let press = 0; ends < most && press < most * PRESSES_FOR_MORE; press += 1) {
    const count = await rowCount(page);
    await page.keyboard.press('End');
    await until(
      page,
      `document.querySelector('[role=grid]').ariaRowCount > ${count} || !document.querySelector('.run-row.coming')`,
    );
    if ((await rowCount(page)) > count) ends += 1;
    else if (count > RUNS) break;
  }
  return ends;
}

async function rowCount(page: Page): Promise<number> {
  return Number(await page.getByRole('grid').getAttribute('aria-rowcount'));
}

/** Typical actions of a user on the list. */
async function walk(page: Page): Promise<void> {
  await page.keyboard.press('Home');
  await hold(page, 'j', 60);
  await page.keyboard.press('x');
  await hold(page, 'Shift+J', 40);
  await page.keyboard.press('Escape');
  for (let i = 0; i < 20; i += 1) await page.mouse.wheel(0, 4_000);
  await page.keyboard.press('Home');
  const chips = page.getByRole('group', { name: 'Status' });
  await chips.getByRole('button', { name: 'failed' }).click();
  await page.locator(`${ROW} [data-status=failed]`).first().waitFor();
  await chips.getByRole('button', { name: 'all' }).click();
  await page.locator(`${ROW} [data-status=completed]`).first().waitFor();
  await page.getByRole('button', { name: 'Cancel all…' }).click();
  await page.getByRole('dialog').waitFor();
  await page.keyboard.press('Escape');
}
