import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import type { SweepReport } from '../../packages/cairn/src/testing/index.ts';
import { PLAIN } from '../../packages/cli/src/render/style.ts';
import { sweepText } from '../../packages/cli/src/views/sweep.ts';
import { readDocument } from '../docs/snippets.ts';
import { listening, saying } from './support/stage.ts';

const ROOT = join(import.meta.dirname, '../..');
const CARELESS = 'test/cli/fixtures/careless.sweep.ts';

function sweep(file: string, ...words: string[]) {
  return saying(['sweep', join(ROOT, file), ...words], listening());
}

test('the example order recovers at every point', async () => {
  const { code, out } = await sweep('examples/order/order.sweep.ts');
  expect(code).toBe(0);
  expect(out).toMatch(/^a large order: \d+ crash points, all recovered$/m);
  expect(out).toMatch(/^an order that cannot be shipped: \d+ crash points, all recovered$/m);
  expect(out).toMatch(/^ {2}ran again after a crash: reserve \(\d+ crash points\), charge/m);
});

describe('by name', () => {
  const named = (word: string, cwd = join(ROOT, 'examples')) =>
    saying(['sweep', word], { ...listening(), cwd });

  test('a workflow is swept by each sweep that contains it, even if a folder has the same name', async () => {
    const { code, out } = await named('order');
    expect([code, out]).toEqual([0, expect.stringMatching(/^a large order: .*\n.*\nan order that cannot/ms)]);
    expect(out).not.toContain('report');
  });

  test('a sweep is found by its own name', async () => {
    const { code, out } = await named('an order that cannot be shipped');
    expect([code, out]).toEqual([
      0,
      expect.stringMatching(/^an order that cannot be shipped: \d+ crash points/),
    ]);
  });

  test.each([
    ['ordr', 'examples', "Did you mean 'order'?"],
    ['nope', 'examples/order', 'Sweeps and their workflows in order.sweep.ts: a large order, order'],
    ['order', 'docs', 'Write order.sweep.ts, as docs/testing.md shows'],
  ])('%s in %s is reported as missing', async (word, folder, help) => {
    const { code, err } = await named(word, join(ROOT, folder));
    expect([code, err]).toEqual([3, expect.stringContaining(help)]);
    expect(err).toContain(`no sweep has a workflow '${word}'`);
  });
});

test('a repeated action is reported as in docs/testing.md', async () => {
  const { code, out } = await sweep(CARELESS);
  expect(code).toBe(7);
  const [, shown] = /^```\n(careless: [\s\S]*?)```/m.exec(readDocument('docs/testing.md')) ?? [];
  expect(out).toBe(shown);
});

test('--json prints the reports', async () => {
  const { code, out } = await sweep(CARELESS, '--json');
  expect(code).toBe(7);
  const [report] = JSON.parse(out) as SweepReport[];
  expect(report?.failures[0]).toMatchObject({ label: 'body greet', moment: 'after' });
  expect(report?.points).toBe((report?.recovered ?? 0) + (report?.failures.length ?? 0));
});

test.each([
  [
    'a file that is not there',
    'test/cli/fixtures/none.ts',
    /does not load: there is no such file\nName a module/,
  ],
  ['a file without a sweep', 'examples/order/order.ts', /exports no sweep/],
])('%s is refused', async (_, file, message) => {
  const { code, out, err } = await sweep(file);
  expect([code, out]).toEqual([1, '']);
  expect(err).toMatch(message);
});

test('failures of one kind are shown once', () => {
  const failure = (call: number, runId: string) => ({
    call,
    label: 'store.append',
    moment: 'before' as const,
    differences: [`the scenario did not end: run ${runId} of 'order' waits for a decision`],
  });
  const report: SweepReport = {
    name: 'order',
    points: 10,
    recovered: 8,
    failures: [failure(3, 'run_aaaa'), failure(5, 'run_bbbb')],
    repeatedBodies: {},
  };
  expect(sweepText(report, { style: PLAIN, columns: undefined })).toBe(
    [
      'order: 10 crash points, 2 not recovered',
      '',
      "  crash before 'store.append', call 3 (2 crash points)",
      "    the scenario did not end: run run_aaaa of 'order' waits for a decision",
      '',
    ].join('\n'),
  );
});
