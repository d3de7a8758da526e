/** The page of a run at and after its end, with late answers. On the stage of `flows.test.ts`. */
import { expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { becomes } from '../support/becomes.ts';
import { show, stage } from './showcase-stage.ts';

interface Run {
  readonly cost: Readonly<Record<string, number>>;
}
interface Graph {
  readonly steps: readonly { readonly key: string }[];
}

/** Changes each answer about the run itself. `n` counts the answers from 1. */
async function withRun(page: Page, id: string, change: (run: Run, n: number) => object): Promise<void> {
  let n = 0;
  await page.route(`**/v1/runs/${id}`, async (route) => {
    const run = (await (await route.fetch()).json()) as Run;
    n += 1;
    await route.fulfill({ json: change(run, n) });
  });
}

const fact = (page: Page, name: string) =>
  page.locator('.run-facts > div', { has: page.getByText(name, { exact: true }) }).locator('dd');

test('a run that has just ended is read again, because its worker records the cost after its last event', async () => {
  const page = await stage.browser.open(`/runs/${show.completed}`, {
    prepare: (one) =>
      withRun(one, show.completed, (run, n) => ({
        ...run,
        completedAt: new Date().toISOString(),
        cost: { ...run.cost, writes: n === 1 ? 7 : 4321 },
      })),
  });
  await fact(page, 'Cost').getByText('4,321 writes').waitFor();
  await page.unrouteAll({ behavior: 'wait' });
});

test('the page does not say that the run has ended while it shows an earlier state', async () => {
  const page = await stage.browser.open(`/runs/${show.completed}`, {
    // The stream has reported the end, but the answer about the run is older.
    prepare: (one) =>
      withRun(one, show.completed, (run) => ({ ...run, status: 'running', completedAt: undefined, head: 1 })),
  });
  await page.locator('.run-status [data-status=running]').waitFor();
  await page.getByRole('region', { name: 'Overview' }).locator('[data-step=read]').first().waitFor();
  await becomes(() => page.locator('.live-mark').textContent(), 'updates live');
  // The page keeps asking for the run.
  await page.unrouteAll({ behavior: 'wait' });
});

test('a button that appears late does not move the others', async () => {
  let release = () => {};
  const isReleased = new Promise<void>((resolve) => {
    release = resolve;
  });
  const page = await stage.browser.open(`/runs/${show.asking}`, {
    prepare: (one) =>
      one.route('**/v1/runs/*/retention', async (route) => {
        await isReleased;
        await route.continue();
      }),
  });
  try {
    const row = page.getByRole('group', { name: 'What can be done with the run' });
    await row.getByRole('button', { name: 'Run again' }).waitFor();
    await page.locator('.graph .step-box').first().waitFor();
    // Positions are relative to the row, because live updates may move the row.
    const places = () =>
      row.evaluate((one) => {
        const { left, top } = one.getBoundingClientRect();
        return [...one.querySelectorAll('button')]
          .filter(({ textContent }) => textContent !== 'Legal hold')
          .map((button) => {
            const box = button.getBoundingClientRect();
            return [button.textContent, box.left - left, box.top - top, box.width];
          });
      });
    const before = await places();
    release();
    await row.getByRole('button', { name: 'Legal hold' }).waitFor();
    expect(await places()).toEqual(before);
  } finally {
    release();
    await page.unrouteAll({ behavior: 'wait' });
  }
});

test('a failed map shows no progress bar, because the number of items that never began is not known', async () => {
  const withFailedSet = (page: Page) =>
    page.route('**/v1/runs/*/graph', async (route) => {
      const graph = (await (await route.fetch()).json()) as Graph;
      const steps = graph.steps.map((step) =>
        step.key === 'check-line' ? { ...step, outcome: 'failed' } : step,
      );
      await route.fulfill({ json: { ...graph, steps } });
    });
  const bars = async (prepare: (page: Page) => Promise<unknown>, text: string) => {
    const page = await stage.browser.open(`/runs/${show.completed}`, { prepare });
    const step = page.locator('button[data-step=check-line]');
    await step.getByText(text).waitFor();
    const count = await step.locator('.step-bar').count();
    await page.unrouteAll({ behavior: 'wait' });
    return count;
  };
  expect(await bars(async () => {}, '3/3')).toBe(1);
  expect(await bars(withFailedSet, '3 done')).toBe(0);
});
