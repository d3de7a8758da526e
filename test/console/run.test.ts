import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { linesIn } from '../../scripts/demo/notes.ts';
import { signalTo } from '../support/processes.ts';
import { eventually } from '../system/support.ts';
import { restingRuns } from './runs/resting-runs.suite.ts';
import { becomes } from './support/becomes.ts';
import { setStage } from './support/stage.ts';

const stage = setStage({ keepsSpare: true });
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'cairn-run-page-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function start(type: string, input: object): Promise<string> {
  return (await stage.cloud.call<{ runId: string }>('POST', '/v1/runs', { type, input })).runId;
}

async function hasStatus(id: string, wanted: string): Promise<void> {
  await eventually(`run ${id} is ${wanted}`, async () => {
    const { status } = await stage.cloud.call<{ status: string }>('GET', `/v1/runs/${id}`);
    return status === wanted || undefined;
  });
}

const step = (page: Page, id: string, status?: string) =>
  page.locator(`button[data-step="${id}"]${status === undefined ? '' : `[data-status="${status}"]`}`);
const panel = (page: Page) => page.getByRole('region', { name: 'The selected step' });

test('after a worker is killed, the page shows the interruption, the resumption and the progress, without a reload', async () => {
  const notes = join(folder, 'killed');
  const id = await start('journey', { ms: 100_000, notes, items: 3 });
  const page = await stage.browser.open(`/runs/${id}`);
  await page.locator('.live-mark.live').waitFor();
  await page.evaluate("document.body.setAttribute('data-not-reloaded', '')");
  const [, pid] = (await eventually('the build to begin', () => linesIn(notes)[0])).split(' ');
  await step(page, 'read-file', 'succeeded').getByText('3/3').waitFor();
  signalTo(Number(pid), 'SIGKILL');

  await page.getByRole('link', { name: 'Timeline' }).click();
  const turns = page.getByRole('list', { name: 'Turning points' });
  await turns.getByText('Worker of dispatch 1 died').waitFor();
  await turns.getByText('Interruption detected').waitFor();
  await turns.getByText('Resumed').waitFor();
  const words = page.getByRole('region', { name: 'What happened, in words' });
  await words.getByText('The worker of dispatch 1 died').waitFor();
  await page.locator('.dispatch.died[data-dispatch="1"]').waitFor();

  await page.locator('.run-status [data-status=awaiting_approval]').waitFor();
  // The graph opens at the running step, and draws only the steps in view.
  await page.getByRole('link', { name: 'Overview' }).click();
  await step(page, 'approve', 'waiting').waitFor();
  await step(page, 'publish', 'not started').waitFor();
  await stage.cloud.call('POST', `/v1/runs/${id}/approvals/approve`, { decision: 'approve' });
  await step(page, 'publish', 'succeeded').waitFor();
  await page.locator('.run-status [data-status=completed]').waitFor();
  await page.locator('.live-mark.ended').waitFor();
  await page.locator('.run-facts').getByText('once').waitFor();
  expect(await page.locator('body[data-not-reloaded]').count()).toBe(1);
});

test('arrow keys move along the edges, and Enter selects a step and shows its attempts', async () => {
  const id = await start('journey', { ms: 1, notes: join(folder, 'keys'), items: 2 });
  await hasStatus(id, 'awaiting_approval');
  const page = await stage.browser.open(`/runs/${id}`);
  await step(page, 'plan').focus();
  const focused = () => page.evaluate("document.activeElement?.getAttribute('data-step')");
  const press = async (key: string, to: string) => {
    await page.keyboard.press(key);
    await becomes(focused, to);
  };
  await press('ArrowDown', 'read-file');
  await press('ArrowRight', 'check');
  await press('ArrowDown', 'build');
  await press('ArrowUp', 'read-file');
  await press('ArrowRight', 'check');
  await page.keyboard.press('Enter');
  await panel(page).getByRole('heading', { name: 'check' }).waitFor();
  await page.waitForURL('**step=check');
  await panel(page).getByText('the receiver was not ready', { exact: true }).waitFor();
  await panel(page).getByText('Attempt 2', { exact: true }).waitFor();
  // The address contains the selected step, so it can be shared, and Back closes the step.
  await page.reload();
  await panel(page).getByText('Attempt 2', { exact: true }).waitFor();
  await page.goBack();
  await panel(page).waitFor({ state: 'detached' });
});

test('the steps are also shown as a table with items, and an open wait can be answered from its step', async () => {
  const id = await start('journey', { ms: 1, notes: join(folder, 'table'), items: 2 });
  await hasStatus(id, 'awaiting_approval');
  const page = await stage.browser.open(`/runs/${id}?view=table`);
  const table = page.getByRole('table', { name: 'Steps' });
  await table.getByRole('row', { name: 'read-file[1]' }).waitFor();
  await table.getByRole('button', { name: 'read-file[1]' }).click();
  await panel(page).getByText('file-1: read').waitFor();
  await page.keyboard.press('ArrowDown');
  await panel(page).getByRole('heading', { name: 'build' }).waitFor();
  await table.getByRole('button', { name: 'approve' }).click();
  await panel(page).getByText('Shall it be published?').waitFor();
  await panel(page).getByRole('group', { name: 'Answers' }).waitFor();
});

test('log lines are filtered by level and step, and new lines and streamed text appear live', async () => {
  const id = await start('journey', { ms: 1, notes: join(folder, 'logs'), items: 1 });
  await hasStatus(id, 'awaiting_approval');
  const page = await stage.browser.open(`/runs/${id}?step=check`);
  await panel(page).getByRole('link', { name: 'What it logged' }).click();
  const table = page.getByRole('table', { name: 'Lines, the oldest first' });
  await table.getByText('check #2').waitFor();
  expect(await table.getByText('taking note').count()).toBe(0);
  await page.getByRole('button', { name: 'Show all' }).click();
  await table.getByText('taking note').waitFor();
  await page.getByLabel('Level').selectOption('warn');
  await table.getByText('taking note').waitFor({ state: 'detached' });
  await table.getByRole('button').first().click();
  await table.getByRole('link', { name: 'All lines of check' }).waitFor();
  await page.getByRole('button', { name: 'Show all' }).click();
  await stage.cloud.call('POST', `/v1/runs/${id}/approvals/approve`, { decision: 'approve' });
  await table.getByText('publishing').waitFor();
  const streamed = page.getByRole('region', { name: 'Streamed text' });
  await streamed.getByText('Published page by page.').waitFor();
  // A long text leaves the lines below in reach.
  const text = streamed.getByRole('region', { name: 'Text of publish' });
  await text.locator('pre').evaluate((one) => one.append('another line\n'.repeat(400)));
  expect((await text.boundingBox())?.height).toBeLessThan(400);
});

test('a flow is a table of its operations in order, and a click expands those of one name', async () => {
  const id = await start('turns', { times: 11 });
  await hasStatus(id, 'completed');
  const page = await stage.browser.open(`/runs/${id}`);
  const table = page.getByRole('table', { name: 'Steps' });
  const names = () => table.locator('tbody').getByRole('button').allTextContents();
  await table.getByRole('button', { name: 'ask ×11' }).click();
  await table.getByRole('button', { name: 'ask.11', exact: true }).waitFor();
  const turns = Array.from({ length: 11 }, (_, n) => (n === 0 ? 'ask' : `ask.${n + 1}`));
  await becomes(names, ['flow', '▾ ask ×11', ...turns, '▸ look-up ×11', 'tell']);
  await table.getByRole('button', { name: 'ask.3', exact: true }).click();
  await panel(page).getByRole('heading', { name: 'flow[ask.3]' }).waitFor();
  await panel(page).getByText('question 3').waitFor();
  await panel(page).getByRole('button', { name: 'Close the step' }).click();
  await page.locator('.chart-row[data-step="flow[look-up]"]').getByText('×11').waitFor();
  await page.getByRole('checkbox', { name: 'Fold repeated operations' }).click();
  await table.getByRole('button', { name: 'look-up.2', exact: true }).waitFor();
  await becomes(async () => (await names()).slice(0, 5), ['flow', 'ask', 'look-up', 'ask.2', 'look-up.2']);
});

test('a run of hundreds of steps renders only the visible ones', async () => {
  const id = await start('ladder-400', {});
  await hasStatus(id, 'completed');
  const page = await stage.browser.open(`/runs/${id}`);
  await step(page, 'step-0', 'succeeded').waitFor();
  expect(await page.locator('button[data-step]').count()).toBeLessThan(120);
  await page.getByRole('searchbox', { name: 'Find a step' }).fill('step-399');
  await page.keyboard.press('Enter');
  await step(page, 'step-399', 'succeeded').waitFor();
  await page.getByRole('link', { name: 'Timeline' }).click();
  await page.locator('.chart-row[data-step="step-0"]').waitFor();
  expect(await page.locator('.chart-row').count()).toBeLessThan(80);
  await page.getByText('404 events').waitFor();
});

test('the page of an unknown run says so, and links to all runs', async () => {
  const page = await stage.browser.open('/runs/run_aaaaaaaaaaaaaaaaaaaaaaaaaa');
  await page.getByRole('heading', { name: 'Run not found' }).waitFor();
  await page.getByRole('link', { name: 'all runs' }).waitFor();
});

test('a click anywhere on a step of the graph opens it', async () => {
  const id = await start('journey', { ms: 1, notes: join(folder, 'mouse'), items: 2 });
  await hasStatus(id, 'awaiting_approval');
  const page = await stage.browser.open(`/runs/${id}`, { reducedMotion: 'no-preference' });
  for (const [name, place] of [
    ['check', 0.5],
    ['build', 0.05],
    ['note', 0.95],
  ] as const) {
    await step(page, name).waitFor();
    const box = await step(page, name).boundingBox();
    if (!box) throw new Error(`step ${name} is not drawn`);
    // The click waits until the graph has stopped moving after the last panel closed.
    await step(page, name).click({ position: { x: box.width * place, y: box.height / 2 } });
    await panel(page).getByRole('heading', { name }).waitFor();
    await page.getByRole('button', { name: 'Close the step' }).click();
  }
});

test('a step shows its memos and its output with copy and download, and the timeline beside the graph links to it', async () => {
  const id = await start('leaf', {});
  await hasStatus(id, 'completed');
  const page = await stage.browser.open(`/runs/${id}`);
  await page.getByRole('region', { name: 'Steps over time' }).getByRole('link', { name: 'grow' }).click();
  const output = panel(page).getByRole('region', { name: 'Output of the step' });
  await output.getByText('grown').waitFor();
  const memos = panel(page).getByRole('region', { name: 'Memos of the step' });
  await memos.getByText('soil').click();
  await memos.getByText('a spade').waitFor();
  await memos
    .getByRole('button', { name: 'Copy JSON' })
    .or(memos.getByRole('button', { name: 'Copy the text' }))
    .waitFor();
  const [memoFile] = await Promise.all([
    page.waitForEvent('download'),
    memos.getByRole('button', { name: 'Download' }).click(),
  ]);
  expect(memoFile.suggestedFilename()).toMatch(/^run_\w+-[\w-]+-soil\.json$/);
  const download = page.waitForEvent('download');
  await output.getByRole('button', { name: 'Download' }).click();
  expect((await download).suggestedFilename()).toBe(`${id}-grow.json`);
});

test('a page on a 390 px screen does not scroll sideways, even with a long input', async () => {
  const id = await start('undoing', { order: 'o'.repeat(500) });
  await hasStatus(id, 'failed');
  const page = await stage.browser.open(`/runs/${id}`, { viewport: { width: 390, height: 800 } });
  await step(page, 'ship', 'failed').waitFor();
  const over = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
  expect(over).toBeLessThanOrEqual(0);
});

test('a window resized to phone width shows the whole graph, and no overlapping axis labels', async () => {
  const id = await start('undoing', { order: 'o-1' });
  await hasStatus(id, 'failed');
  const page = await stage.browser.open(`/runs/${id}`);
  await step(page, 'ship', 'failed').waitFor();
  await page.setViewportSize({ width: 390, height: 800 });
  const inside = () =>
    page.evaluate(() => {
      const frame = document.querySelector('.graph')?.getBoundingClientRect();
      const nodes = [...document.querySelectorAll('.graph button[data-step]')];
      if (!frame || nodes.length < 3) return false;
      return nodes
        .map((node) => node.getBoundingClientRect())
        .every(({ left, right }) => left >= frame.left && right <= frame.right);
    });
  await eventually('all steps to be in the frame', async () => (await inside()) || undefined);
  // The axis is redrawn separately, before or after the graph.
  let times: (readonly [left: number, right: number])[] = [];
  await eventually('no two labels of the axis to overlap', async () => {
    times = await page
      .locator('.chart .tick')
      .evaluateAll((all) =>
        all.map((one) => one.getBoundingClientRect()).map(({ left, right }) => [left, right] as const),
      );
    const isClear = times.every(([left], at) => left >= (times[at - 1]?.[1] ?? 0) - 1);
    return (times.length > 0 && isClear) || undefined;
  }).catch((error: unknown) => {
    throw new Error(`the times are at ${JSON.stringify(times)}`, { cause: error });
  });
});

test('the page of a run with more than 1,000 events links to its timeline', async () => {
  const id = await start('turns', { times: 520 });
  await hasStatus(id, 'completed');
  const page = await stage.browser.open(`/runs/${id}`);
  const note = page.getByText('The timeline is drawn beside the steps up to 1,000 events; this run has');
  await note.getByRole('link', { name: 'tab Timeline' }).click();
  await page.waitForURL('**tab=timeline**');
});

test('memos of a running body appear live', async () => {
  const until = join(folder, 'boxes');
  const id = await start('remembering', { until });
  const page = await stage.browser.open(`/runs/${id}?step=pack`);
  const memos = panel(page).getByRole('region', { name: 'Memos of the step' });
  await memos.getByText('first-box').waitFor();
  expect(await memos.getByText('second-box').count()).toBe(0);
  // A running step does not pulse, because the browser asks for reduced motion.
  expect(await step(page, 'pack').getAttribute('data-status')).toBe('running');
  expect(await page.evaluate(() => document.getAnimations().length)).toBe(0);
  writeFileSync(until, '');
  await memos.getByText('second-box').click();
  await memos.getByText('plates').waitFor();
  expect(await step(page, 'pack').getAttribute('data-status')).toBe('running');
  writeFileSync(`${until}-end`, '');
  await step(page, 'pack', 'succeeded').waitFor();
});

test('memos of a running undo appear live, and stay afterwards', async () => {
  const until = join(folder, 'calls');
  const id = await start('taking-back', { until });
  const page = await stage.browser.open(`/runs/${id}?step=book`);
  const memos = panel(page).getByRole('region', { name: 'Memos of the undo of the step' });
  await memos.getByText('first-call').waitFor();
  await panel(page).getByText('Being undone').waitFor();
  expect(await memos.getByText('second-call').count()).toBe(0);
  // A run cannot be resumed before it has ended.
  const advice = page.locator('.run-error').getByText('then resume the run');
  expect(await advice.count()).toBe(0);
  writeFileSync(until, '');
  await memos.getByText('second-call').click();
  await memos.getByText('the airline').waitFor();
  expect(await step(page, 'book').getAttribute('data-status')).toBe('succeeded');
  writeFileSync(`${until}-end`, '');
  await step(page, 'book', 'undone').waitFor();
  await panel(page).getByText('Being undone').waitFor({ state: 'detached' });
  await advice.waitFor();
  await memos.getByText('the airline').waitFor();
});

test('undone steps and failed undos are marked in graph, panel and timeline', async () => {
  const id = await start('undoing', { order: 'o-17' });
  await hasStatus(id, 'failed');
  const page = await stage.browser.open(`/runs/${id}`);
  await page.getByText('Failed in step ship. 1 step was undone. The undo of charge failed.').waitFor();
  await step(page, 'reserve', 'undone').waitFor();
  await step(page, 'charge', 'undo failed').click();
  await panel(page).getByText('the bank is closed').waitFor();
  await step(page, 'ship', 'failed').waitFor();
  await page.getByRole('link', { name: 'Timeline' }).click();
  await page.locator('.chart-row[data-step="reserve"][data-undone="compensated"] .undo-mark').waitFor();
  await page.locator('.chart-row[data-step="charge"][data-undone="failed"] .undo-mark.bad').waitFor();
});

test('the page of a run has its input, result and error', async () => {
  const failed = await start('undoing', { order: 'o-18' });
  const done = await start('leaf', {});
  await hasStatus(failed, 'failed');
  await hasStatus(done, 'completed');
  const page = await stage.browser.open(`/runs/${failed}`);
  const values = page.locator('.run-values');
  await values.getByText('{"order":"o-18"}').click();
  await values.getByRole('tree', { name: 'Input' }).getByText('o-18').waitFor();
  const error = page.locator('.run-error').first();
  await error.getByText('no truck for o-18', { exact: true }).waitFor();
  await error.getByText('Stack').click();
  await error
    .locator('pre')
    .getByText(/at .+:\d+:\d+/)
    .waitFor();
  const other = await stage.browser.open(`/runs/${done}`);
  await other.locator('.run-values').getByText('{"grow":"grown"}').waitFor();
  // The facts, such as trigger and cost, come after the values.
  const order = await other
    .locator('.run-head > *')
    .evaluateAll((all) => all.map((one) => one.className.split(' ')[0] ?? ''));
  const wanted = ['run-state', 'run-values', 'run-facts', 'all-facts'];
  expect(order.filter((name) => wanted.includes(name))).toEqual(wanted);
});

test('an ended parent links to its children, and a child to its parent and the topmost run', async () => {
  const id = await start('family', {});
  await hasStatus(id, 'completed');
  const page = await stage.browser.open(`/runs/${id}`);
  const facts = page.locator('.run-facts');
  const fact = (name: string) => facts.locator('div', { has: page.getByText(name, { exact: true }) });
  const tree = page.getByRole('group', { name: 'Child runs' });
  await tree.getByText('3 runs in this tree').waitFor();
  await tree.getByRole('link', { name: 'parent-of-leaf' }).click();
  await page.getByRole('heading', { name: 'parent-of-leaf' }).waitFor();
  await step(page, 'leaf', 'succeeded').click();
  await panel(page).getByRole('listitem').getByRole('link').click();
  await page.getByRole('heading', { name: 'leaf', exact: false, level: 1 }).waitFor();
  await step(page, 'grow', 'succeeded').waitFor();
  expect(await fact('Top run').getByRole('link').getAttribute('href')).toBe(`/runs/${id}`);
  await fact('Parent').getByRole('link').click();
  await panel(page).getByRole('heading', { name: 'leaf' }).waitFor();
});

test('the reported progress of a body is shown while it runs', async () => {
  const until = join(folder, 'told');
  const id = await start('telling', { until });
  const page = await stage.browser.open(`/runs/${id}`);
  const line = page.locator('.run-head .progress-line');
  await line.getByText('45%').waitFor();
  await line.getByText('a.txt').waitFor();
  await step(page, 'copy').getByText('45%').waitFor();
  writeFileSync(until, '');
  await step(page, 'copy', 'succeeded').waitFor();
  await line.waitFor({ state: 'detached' });
});

// These tests are last, because the clock of this cloud stays ahead.
test('after the clock of the cloud was moved, the page uses its time', async () => {
  const moved = 3 * 3_600_000;
  const answer = await fetch(`${stage.cloud.ready.control}/clock/advance`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ms: moved }),
  });
  expect(answer.status).toBe(200);
  const id = await start('leaf', {});
  await hasStatus(id, 'completed');
  const page = await stage.browser.open(`/runs/${id}`);
  const created = page.locator('.run-facts div', { has: page.getByText('Created', { exact: true }) });
  await created.getByText(/^(now|\d+[sm] ago)/).waitFor();
  const shown = Date.parse((await created.locator('time').getAttribute('datetime')) ?? '');
  expect(shown - Date.now()).toBeGreaterThan(moved / 2);
  expect(await created.textContent()).not.toContain('in 2h');
});

restingRuns(stage);
