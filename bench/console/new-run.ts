/** Measures the time until a new run appears in an open list. main.ts checks the limits. */
import type { Page } from 'playwright-core';
import type { Client } from '../client.ts';
import { until } from './seen.ts';

const SAMPLES = 10;

/** Records when the row of each run was drawn, by the clock of this machine. */
const WATCH_ROWS = `
  globalThis.rowsAt = {};
  new MutationObserver(() => {
    for (const row of document.querySelectorAll('.run-rows [role=row][id]'))
      if (!(row.id in globalThis.rowsAt)) {
        globalThis.rowsAt[row.id] = undefined;
        requestAnimationFrame(() => setTimeout(() => { globalThis.rowsAt[row.id] = Date.now(); }));
      }
  }).observe(document.body, { childList: true, subtree: true });
`;

/** From the request that starts a run to the row that shows it, ms, in order. @param page a list that is live, at its beginning */
export async function newRunsSeen(page: Page, client: Client): Promise<readonly number[]> {
  await page.locator('.list-live', { hasText: 'Updates live' }).waitFor();
  await page.evaluate(WATCH_ROWS);
  const took: number[] = [];
  for (let i = 0; i < SAMPLES; i += 1) {
    const startedAt = Date.now();
    const id = await client.start('seq-3');
    await until(page, `globalThis.rowsAt['row-${id}'] !== undefined`);
    took.push((await page.evaluate<number>(`globalThis.rowsAt['row-${id}']`)) - startedAt);
    while ((await client.run(id)).status !== 'completed')
      await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return took.sort((a, b) => a - b);
}
