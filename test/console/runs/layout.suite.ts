/** Layout of the list of runs: late parts must not move others. */
import { expect, test } from '@jest/globals';
import type { Stage } from '../support/stage.ts';

export function layoutOfList(stage: Stage): void {
  test('a search without results lists workflows below its help without moving it, and counts the rest', async () => {
    const items = Array.from({ length: 7 }, (_, at) => ({ type: `gift-${at}`, versions: [] }));
    const page = await stage.browser.open('/runs?q=gift', {
      prepare: (one) =>
        one.route('**/v1/workflows?summary=*', async (route) => {
          const answer = (await (await route.fetch()).json()) as object;
          await route.fulfill({ json: { ...answer, items } });
        }),
    });
    const others = page.getByRole('link', { name: '2 more', exact: true });
    await others.waitFor();
    expect(await others.getAttribute('href')).toMatch(/\/workflows$/);
    const [help, named] = await Promise.all(
      [page.getByText('X-GitHub-Delivery'), page.getByRole('link', { name: 'gift-4' })].map((part) =>
        part.boundingBox(),
      ),
    );
    expect(help?.y).toBeLessThan(named?.y ?? 0);
  });

  test.each([
    ['two lines', 1_100],
    ['one line', 1_800],
  ])('the statuses to filter by stand in %s with one gap between them', async (_, width) => {
    const page = await stage.browser.open('/runs');
    await page.setViewportSize({ width, height: 900 });
    const chips = page.locator('.chips button');
    await chips.first().waitFor();
    const boxes = await Promise.all((await chips.all()).map((chip) => chip.boundingBox()));
    const gaps = boxes.slice(1).flatMap((box, at) => {
      const before = boxes[at];
      if (!box || !before) return [];
      return box.y > before.y + 1 ? [] : [Math.round(box.x - before.x - before.width)];
    });
    expect(new Set(gaps)).toEqual(new Set([5]));
    const tops = [...new Set(boxes.map((box) => Math.round(box?.y ?? 0)))];
    expect(tops).toHaveLength(width < 1_600 ? 2 : 1);
  });
}
