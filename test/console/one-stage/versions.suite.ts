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
    'a workflow with runs of several versions shows the statistics of each within %d px',
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
      // No statistic is beyond the edge.
      const [inner, outer] = await versions.evaluate((region) => [region.scrollWidth, region.clientWidth]);
      expect(inner).toBeLessThanOrEqual(outer ?? 0);
    },
  );

  test('the plan of a workflow does not move when its statistics arrive', async () => {
    const page = await stage.browser.open('/inbox');
    const asked = Promise.withResolvers<void>();
    await page.route('**/v1/runs/statistics?*', async (route) => {
      const found = (await (await route.fetch()).json()) as Record<string, unknown>;
      await asked.promise;
      await route.fulfill({ json: { ...found, total: figures(16, 3, 4_000, 9_000), versions: VERSIONS } });
    });
    await page.goto('/workflows/chain-10');
    const plan = page.getByRole('heading', { name: 'Plan of v1' });
    const placeOf = async () => (await plan.boundingBox())?.y;
    await plan.waitFor();
    await page.getByText('Loading the statistics').waitFor();
    const before = await placeOf();
    asked.resolve();
    await page.getByRole('region', { name: 'Statistics by version' }).waitFor();
    expect(before).toBeDefined();
    expect(await placeOf()).toBe(before);
  });

  test('the charts and their table show the durations of each period, for all versions or one', async () => {
    const part = (hour: number, ...of: readonly ReturnType<typeof figures>[]) => ({
      from: `2026-01-31T0${hour}:00:00.000Z`,
      ...(of[0] ?? figures(0, 0, 0, 0)),
      versions: of.slice(1).map((one, i) => ({ planVersion: 12 - i, ...one })),
    });
    const { p50Ms: _, p95Ms: __, failureShare: ___, ...none } = figures(0, 0, 0, 0);
    const parts = [
      part(6, figures(12, 3, 4_000, 9_000), figures(2, 0, 1_000, 2_000), figures(10, 3, 5_000, 9_000)),
      { from: '2026-01-31T07:00:00.000Z', ...none, versions: [] },
      part(8, figures(4, 0, 3_000, 6_000), figures(4, 0, 3_000, 6_000)),
    ];
    const page = await stage.browser.open('/inbox');
    await page.route('**/v1/runs/statistics?*', async (route) => {
      const found = (await (await route.fetch()).json()) as Record<string, unknown>;
      const until = '2026-01-31T09:00:00.000Z';
      const json = { ...found, parts, until, isCut: true, total: figures(16, 3, 4_000, 9_000) };
      await route.fulfill({ json: { ...json, versions: VERSIONS } });
    });
    await page.goto('/workflows/chain-10');
    const durations = page.getByRole('list', { name: 'Duration over time' }).getByRole('listitem');
    await durations.first().waitFor();
    expect(await durations.evaluateAll((all) => all.map((one) => one.getAttribute('title')))).toEqual([
      '31 Jan 06:00: p50 4.0s, p95 9.0s, of 9 completed',
      '31 Jan 07:00: no run completed',
      '31 Jan 08:00: p50 3.0s, p95 6.0s, of 4 completed',
    ]);
    const runs = page.getByRole('list', { name: 'Runs over time' }).getByRole('listitem');
    expect(await runs.first().getAttribute('title')).toBe(
      '31 Jan 06:00: 12 runs, 9 completed, 3 failed (25 %), 0 others, p50 4.0s, p95 9.0s',
    );
    await page.getByText('A sample: the newest 16 runs.').waitFor();
    await page.getByText('As a table').click();
    const table = page.getByRole('region', { name: 'Statistics over time' });
    const rows = async () =>
      Promise.all(
        (await table.locator('tbody tr').all()).map(async (row) =>
          (await row.locator('td').allTextContents()).join(' | '),
        ),
      );
    expect(await rows()).toEqual([
      '31 Jan 06:00 | 12 | 12 per hour | 25 % | 4.0s | 9.0s | 9',
      '31 Jan 08:00 | 4 | 4 per hour | 0 % | 3.0s | 6.0s | 4',
    ]);
    await page.getByRole('button', { name: 'v11', exact: true }).click();
    await table.getByText('30 %').waitFor();
    expect(await rows()).toEqual(['31 Jan 06:00 | 10 | 10 per hour | 30 % | 5.0s | 9.0s | 7']);
    expect(new URL(page.url()).searchParams.get('version')).toBe('v11');
  });
}
