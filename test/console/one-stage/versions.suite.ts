/** Statistics of a workflow of several versions. */
import { expect, test } from '@jest/globals';
import type { Stage } from '../support/stage.ts';

export function versions(stage: Stage): void {
  const figures = (runs: number, failed: number, p50Ms: number, p95Ms: number) => ({
    runs,
    completed: runs - failed,
    failed,
    cancelled: 0,
    live: 0,
    suspects: 0,
    failureShare: failed / runs,
    p50Ms,
    p95Ms,
    cost: { reads: 1, writes: 1, deletes: 0, tasks: 1, usd: 0.01 * runs },
  });
  const VERSIONS = [
    { planVersion: 12, ...figures(400, 36, 4_200, 93_000) },
    { planVersion: 11, ...figures(9_600, 12, 187_000, 7_384_000) },
    { planVersion: 3, ...figures(4, 0, 92, 172_900_000) },
  ];

  test.each([1280, 390])(
    'a workflow of which several versions ran shows the readings of each, all of them %d px wide',
    async (width) => {
      const page = await stage.browser.open('/inbox');
      await page.setViewportSize({ width, height: 844 });
      await page.route('**/v1/runs/statistics?*', async (route) => {
        const answer = await route.fetch();
        const found = (await answer.json()) as Record<string, unknown>;
        await route.fulfill({
          json: { ...found, total: figures(10_004, 48, 4_300, 7_384_000), versions: VERSIONS },
        });
      });
      await page.goto('/workflows/chain-10');
      const versions = page.getByRole('region', { name: 'Statistics by version' });
      await versions.getByText('v12', { exact: true }).waitFor();
      const rows = await versions.locator('tbody tr').all();
      expect(
        await Promise.all(rows.map(async (row) => (await row.locator('td').allTextContents()).join(' | '))),
      ).toEqual([
        'v12 | 400 | 17 per hour | 9.0 %, 36 of 400 | 4.2s | 1m 33s | $0.010',
        'v11 | 9,600 | 6.7 per minute | 0.1 %, 12 of 9,600 | 3m 7s | 2h 3m | $0.010',
        'v3 | 4 | 4 per day | 0 % | 92ms | 2d | $0.010',
      ]);
      // Nothing of them lies beyond the edge.
      const [inner, outer] = await versions.evaluate((region) => [region.scrollWidth, region.clientWidth]);
      expect(inner).toBeLessThanOrEqual(outer ?? 0);
    },
  );
}
