/** A graph that is wider than its frame. On the stage of `flows.test.ts`. */
import { expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { becomes } from '../support/becomes.ts';
import { goTo, settled, startBrowser } from '../support/browser.ts';
import { SIZES } from '../support/sizes.ts';
import { show, stage } from './showcase-stage.ts';

interface Graph {
  readonly nodes: readonly { readonly id: string }[];
}
/** The widest row that is readable on a phone. */
const ACROSS = 5;
const LAST = `wide-${ACROSS}`;

/** Needs of a plan with an edge 120 px outside the outermost steps. */
const OUTSIDE = [[], [0], [], [0, 1, 2], [], [0], [], [2], [7], [1], [1, 2, 6, 9], [1, 8]];

/** Replaces the plan of the run by parallel chains of `layers` steps. */
async function withWidePlan(page: Page, layers = 1): Promise<void> {
  await withPlan(
    page,
    Array.from({ length: ACROSS * layers }, (_, at) => ({
      id: `wide-${at + 1}`,
      needs: at < ACROSS ? [] : [`wide-${at + 1 - ACROSS}`],
    })),
  );
}

async function withPlan(
  page: Page,
  plan: readonly { readonly id: string; readonly needs: readonly string[] }[],
): Promise<void> {
  await page.route('**/v1/runs/*/graph', async (route) => {
    const answer = (await (await route.fetch()).json()) as Graph;
    const [some] = answer.nodes;
    await route.fulfill({ json: { ...answer, nodes: plan.map((node) => ({ ...some, ...node })) } });
  });
}

/** Lists the steps that are fully within the frame. */
const inFrame = (page: Page) =>
  page.locator('.graph .react-flow').evaluate((frame) => {
    const { left, top, right, bottom } = frame.getBoundingClientRect();
    return [...frame.querySelectorAll('.step-box')]
      .filter((step) => {
        const box = step.getBoundingClientRect();
        return left <= box.left && box.right <= right && top <= box.top && box.bottom <= bottom;
      })
      .map((step) => step.getAttribute('data-step'));
  });

const open = (viewport: { width: number; height: number }) =>
  stage.browser.open(`/runs/${show.completed}`, { viewport, prepare: (page) => withWidePlan(page) });

test.each(Object.entries(SIZES))(
  '%s: a graph is shown whole when it opens, and by *fit*',
  async (_, viewport) => {
    const page = await open(viewport);
    await becomes(async () => (await inFrame(page)).length, ACROSS);
    const zoom = page.getByRole('group', { name: 'Zoom' });
    for (let times = 0; times < 4; times += 1) await zoom.getByRole('button', { name: 'Closer' }).click();
    await becomes(async () => (await inFrame(page)).length < ACROSS, true);
    await zoom.getByRole('button', { name: 'fit' }).click();
    await becomes(async () => (await inFrame(page)).length, ACROSS);
  },
);

test.each(Object.entries(SIZES))(
  '%s: edges outside the outermost steps are within the frame',
  async (_, viewport) => {
    const page = await stage.browser.open(`/runs/${show.completed}`, {
      viewport,
      prepare: (one) =>
        withPlan(
          one,
          OUTSIDE.map((needs, at) => ({ id: `s${at}`, needs: needs.map((on) => `s${on}`) })),
        ),
    });
    const cut = () =>
      page.locator('.graph .react-flow').evaluate((frame) => {
        const { left, top, right, bottom } = frame.getBoundingClientRect();
        const edges = [...frame.querySelectorAll('.react-flow__edge-path')];
        const isCut = (edge: Element) => {
          const box = edge.getBoundingClientRect();
          return box.left < left || box.right > right || box.top < top || box.bottom > bottom;
        };
        return [edges.length, edges.filter(isCut).length];
      });
    const whole = [OUTSIDE.flat().length, 0];
    await becomes(cut, whole);
    const zoom = page.getByRole('group', { name: 'Zoom' });
    for (let times = 0; times < 3; times += 1) await zoom.getByRole('button', { name: 'Closer' }).click();
    await zoom.getByRole('button', { name: 'fit' }).click();
    await becomes(cut, whole);
  },
);

test.each(['as it was', 'moved'])(
  'a clicked step of a graph %s stays in view beside its panel',
  async (how) => {
    const page = await open(SIZES.desktop);
    await becomes(async () => (await inFrame(page)).length, ACROSS);
    const frame = await page.locator('.graph .react-flow').boundingBox();
    if (!frame) throw new Error('no graph');
    if (how === 'moved') {
      const [x, y] = [frame.x + frame.width / 2, frame.y + frame.height - 20];
      await page.mouse.move(x, y);
      await page.mouse.down();
      await page.mouse.move(x + 30, y, { steps: 3 });
      await page.mouse.up();
    }
    await page.locator(`button[data-step="${LAST}"]`).click();
    await page.getByRole('region', { name: 'The selected step' }).waitFor();
    for (const width of [1280, 1000, 860]) {
      await page.setViewportSize({ width, height: 800 });
      await becomes(async () => (await inFrame(page)).includes(LAST), true);
    }
  },
);

test('a clicked step of a large graph keeps its vertical position in a narrower frame, and the first steps stay at the top', async () => {
  // The plan is a long sequence of pairs, drawn in several columns.
  const ladder = Array.from({ length: 300 }, (_, at) => {
    const before = at - (at % 2);
    return { id: `rung-${at}`, needs: before === 0 ? [] : [`rung-${before - 2}`, `rung-${before - 1}`] };
  });
  const page = await stage.browser.open(`/runs/${show.completed}`, {
    viewport: SIZES.desktop,
    prepare: (one) => withPlan(one, ladder),
  });
  const placeOf = async (id: string) => {
    const step = await page.locator(`.graph button[data-step="${id}"]`).boundingBox();
    const frame = await page.locator('.graph .react-flow').boundingBox();
    return { x: (step?.x ?? 0) - (frame?.x ?? 0), y: Math.round((step?.y ?? 0) - (frame?.y ?? 0)) };
  };
  const id = 'rung-1';
  await page.locator(`.graph button[data-step="${id}"]`).click();
  await page.getByRole('region', { name: 'The selected step' }).waitFor();
  const { x, y } = await placeOf(id);
  await page.setViewportSize({ width: 420, height: 800 });
  await becomes(async () => (await placeOf(id)).x < x && (await inFrame(page)).includes(id), true);
  expect((await placeOf(id)).y).toBe(y);
  // A search moves the step it finds to the middle, except the first steps, which have nothing above them.
  await page.getByPlaceholder('Find a step').fill('rung-0');
  await page.keyboard.press('Enter');
  await becomes(async () => (await inFrame(page)).includes('rung-0'), true);
  expect((await placeOf('rung-0')).y).toBe(y);
});

test('steps whose names differ only at the end show the end', async () => {
  const ids = ['north', 'south'].map((end) => `${'reconcile-the-ledgers-of-'.repeat(3)}${end}`);
  const page = await stage.browser.open(`/runs/${show.completed}`, {
    prepare: (one) =>
      withPlan(
        one,
        ids.map((id) => ({ id, needs: [] })),
      ),
  });
  const names = page.locator('.graph .step-box .name-on-line');
  await names.nth(1).waitFor();
  const shown = await names.evaluateAll((all) =>
    all.map((name) => {
      const [head, tail] = name.children;
      const [box, end] = [name.closest('.step-box'), tail].map((one) => one?.getBoundingClientRect());
      const isWhole = tail !== undefined && tail.scrollWidth <= tail.clientWidth;
      const isCut = head !== undefined && head.scrollWidth > head.clientWidth;
      return [tail?.textContent, isCut && isWhole && Number(end?.right) <= Number(box?.right)];
    }),
  );
  expect(shown.toSorted()).toEqual([
    ['-of-north', true],
    ['-of-south', true],
  ]);
});

test('a step found among hundreds is in view in the table', async () => {
  const page = await stage.browser.open(`/runs/${show.completed}?view=table`, {
    prepare: (one) => withWidePlan(one, 60),
  });
  await page.locator('.step-table tbody tr').first().waitFor();
  await page.getByPlaceholder('Find a step').fill('wide-222');
  await page.keyboard.press('Enter');
  const inSight = () =>
    page.locator('.step-table').evaluate((table) => {
      const { top, bottom } = table.getBoundingClientRect();
      const row = table.querySelector('tr[data-step=wide-222]')?.getBoundingClientRect();
      return row !== undefined && row.top >= top && row.bottom <= bottom;
    });
  await becomes(inSight, true);
});

test('an item of a map is found by its name', async () => {
  const page = await stage.browser.open(`/runs/${show.completed}`);
  await page.locator('button[data-step=check-line]').waitFor();
  await page.getByPlaceholder('Find a step').fill('check-line[1]');
  await page.getByText('1 found').waitFor();
  await page.keyboard.press('Enter');
  const panel = page.getByRole('region', { name: 'The selected step' });
  await panel.getByRole('heading', { name: 'check-line[1]' }).waitFor();
});

test.each([
  ['side by side', (at: number) => (at === 0 ? [] : ['many-1'])],
  ['in a chain', (at: number) => (at === 0 ? [] : [`many-${at}`])],
])('a hundred steps %s begin in sight, and *fit* shows them all', async (_, needsOf) => {
  const many = 100;
  const page = await stage.browser.open(`/runs/${show.completed}`, {
    viewport: SIZES.desktop,
    prepare: (one) =>
      withPlan(
        one,
        Array.from({ length: many }, (__, at) => ({ id: `many-${at + 1}`, needs: needsOf(at) })),
      ),
  });
  await becomes(() => inFrame(page), expect.arrayContaining(['many-1', 'many-2', 'many-3']));
  // The names must be large enough to read.
  const box = await page.locator('button[data-step=many-1]').boundingBox();
  expect(box?.height).toBeGreaterThan(12);
  await page.getByRole('group', { name: 'Zoom' }).getByRole('button', { name: 'fit' }).click();
  await becomes(async () => (await inFrame(page)).length, many);
});

test('the frame of a wide graph is as high as the shrunken graph', async () => {
  const layers = 6;
  const page = await stage.browser.open(`/runs/${show.completed}`, {
    viewport: SIZES.desktop,
    prepare: (one) => withWidePlan(one, layers),
  });
  await becomes(async () => (await inFrame(page)).length, ACROSS * layers);
  const [frame, first] = [
    await page.locator('.graph .react-flow').boundingBox(),
    await page.locator('button[data-step="wide-1"]').boundingBox(),
  ];
  expect((first?.y ?? 0) - (frame?.y ?? 0)).toBeLessThan(60);
});

test.each([
  ['phone', { width: 390, height: 844 }],
  ['narrow desktop', { width: 1000, height: 760 }],
])('%s: a click on a step scrolls to its panel below the graph', async (_, viewport) => {
  const page = await stage.browser.open(`/runs/${show.completed}`, { viewport });
  const panel = page.getByRole('region', { name: 'The selected step' });
  const step = page.locator('.graph button[data-step=read]');
  // The panel is fully in view, or its head is in the upper half.
  const isInSight = async () => {
    const box = await panel.boundingBox();
    return (
      box !== null && box.y >= 0 && (box.y < viewport.height / 2 || box.y + box.height <= viewport.height + 1)
    );
  };
  await step.click();
  await panel.getByRole('link', { name: 'Its events' }).waitFor();
  await becomes(isInSight, true);
  // A click scrolls there again if the panel is already open.
  await page.evaluate(() => window.scrollTo(0, 0));
  await becomes(isInSight, false);
  await step.click();
  await becomes(isInSight, true);
});

test('a scrollbar does not change the width of a page: a graph, whose height follows its width, would flicker', async () => {
  const browser = await startBrowser(stage.cloud.ready.gateway, { hasScrollbars: true });
  try {
    const page = await browser.open(`/runs/${show.completed}`, { viewport: { width: 1000, height: 300 } });
    const main = page.getByRole('main');
    await page.locator('.graph').waitFor();
    const scrolls = () =>
      page.evaluate(() => document.documentElement.scrollHeight > document.documentElement.clientHeight);
    const right = async () => {
      const box = await main.boundingBox();
      return (box?.x ?? 0) + (box?.width ?? 0);
    };
    await becomes(scrolls, true);
    const beside = await right();
    expect(beside).toBeLessThan(1000);
    await page.setViewportSize({ width: 1000, height: 4_000 });
    await becomes(scrolls, false);
    expect(await right()).toBe(beside);
    await browser.settle();
  } finally {
    await browser.close();
  }
});

test('a browser font twice as large enlarges all text, rows and steps, and nothing overflows the window', async () => {
  const browser = await startBrowser(stage.cloud.ready.gateway, { fontPx: 32 });
  try {
    const page = await browser.open('/runs');
    await page.locator('.run-row .c-run').first().waitFor();
    await goTo(page, `/runs/${show.completed}`);
    await page.locator('.step-box').first().waitFor();
    const heights = (part: string) =>
      page
        .locator(part)
        .evaluateAll((all) => [...new Set(all.map((one) => one.getBoundingClientRect().height))]);
    // 58 px and 24 px are the heights at the ordinary font size.
    await becomes(() => heights('.step-box'), [2 * 58]);
    expect(await heights('.chart-row')).toEqual([2 * 24]);
    for (const path of [
      '/runs',
      '/inbox',
      `/runs/${show.completed}`,
      `/runs/${show.completed}?tab=journal`,
    ]) {
      await goTo(page, path);
      await settled(page);
      expect([path, await page.evaluate(overlaps)]).toEqual([path, []]);
      expect(await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)).toBe(0);
    }
    await browser.settle();
  } finally {
    await browser.close();
  }
});

/** Lists overlapping pairs of links, buttons and fields by their texts. Runs in the page. */
function overlaps(): readonly string[] {
  const boxes = [...document.querySelectorAll('nav a, .top a, .top button, .top input, main button, main a')]
    .filter((part) => part.checkVisibility() && !part.closest('.skip, .graph'))
    // A link over two lines has two boxes.
    .flatMap((part) => [...part.getClientRects()].map((box) => ({ part, box })));
  return boxes.flatMap(({ part, box }, at) =>
    boxes
      .slice(at + 1)
      .filter(({ part: other, box: o }) => {
        const across = Math.min(box.right, o.right) - Math.max(box.left, o.left);
        const down = Math.min(box.bottom, o.bottom) - Math.max(box.top, o.top);
        return !part.contains(other) && !other.contains(part) && across > 1 && down > 1;
      })
      .map(({ part: other }) => `${part.textContent} / ${other.textContent}`),
  );
}

test('the column of names beside a timeline fits the longest name, and each name has a title', async () => {
  const id = 'reconcile-the-ledger-of-march';
  const page = await stage.browser.open(`/runs/${show.completed}`, {
    prepare: (one) =>
      one.route(`**/v1/runs/${show.completed}/events?*`, async (route) => {
        const response = await route.fetch();
        await route.fulfill({ response, body: (await response.text()).replaceAll('"book"', `"${id}"`) });
      }),
  });
  const name = page.locator(`.chart-row[data-step=${id}] .chart-name`);
  await name.waitFor();
  expect(await name.evaluate((one) => one.scrollWidth - one.clientWidth)).toBe(0);
  expect(await name.getAttribute('title')).toBe(id);
});
