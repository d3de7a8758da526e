import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { Fatal } from '../../../packages/cairn/src/index.ts';
import { cells } from '../../../packages/cli/src/render/width.ts';
import { Stage } from '../support/stage.ts';

const order = (planVersion: number) =>
  defineWorkflow({
    type: 'order-with-a-rather-long-name',
    planVersion,
    input: z.object({ fails: z.boolean() }),
    steps: (step) => ({
      paid: step('charge-the-customer-s-card', ({ input }) => {
        if (input.fails) throw new Fatal('the bank is down, and says so in a sentence of some length');
      }),
    }),
  });
const nap = defineWorkflow({
  type: 'nap',
  planVersion: 1,
  input: z.object({}),
  steps: (step) => ({ slept: step.sleep('sleep', { for: '8h' }) }),
});

async function ran() {
  const stage = new Stage([order(1), order(2), nap]);
  const start = (type: string, input: object) =>
    stage.cairn(['runs', 'start', type, '--input', JSON.stringify(input)]);
  for (const fails of [false, false, false, true]) await start('order-with-a-rather-long-name', { fails });
  const { runs } = stage.installation.world.db;
  await start('nap', {});
  await stage.driveUntil(() =>
    [...runs.values()].every(
      ({ snapshot }) => snapshot.completedAt !== undefined || snapshot.waits.length > 0,
    ),
  );
  stage.installation.world.clock.jump(1_000);
  return stage;
}

test('runs statistics shows rate, ends, share of failures, durations, versions and causes in 80 columns', async () => {
  const stage = await ran();
  const { code, out } = await stage.cairn(['runs', 'statistics'], {
    isTty: true,
    columns: 80,
    env: { NO_COLOR: '1' },
  });
  expect(code).toBe(0);
  for (const line of out.split('\n')) expect(cells(line)).toBeLessThanOrEqual(80);
  expect(out).toContain('5 runs, 5 per day: 3 completed, 1 failed, 1 live');
  expect(out).toMatch(/^failures 25 %, duration p50 .+, p95 .+\ncost .+ · about \$0\.\d+$/m);
  expect(out).toMatch(/^order-with-a-rather-long-name v2 +4 +3 +1 +25 % /m);
  expect(out).toMatch(/^nap v1 +1 /m);
  const failed = [...stage.installation.world.db.runs.values()].find(
    ({ snapshot }) => snapshot.status === 'failed',
  );
  expect(out).toContain(failed?.snapshot.id.slice(0, 10));
  expect(out).toMatch(/^ +1 .*charge/m);
});

test('it filters, and with --json prints the answer of the API', async () => {
  const stage = await ran();
  const found = await stage.answer<{ total: { runs: number; live: number } }>([
    'runs',
    'statistics',
    '--type',
    'nap',
    '--since',
    '7d',
  ]);
  expect(found.total).toMatchObject({ runs: 1, live: 1 });
  const none = await stage.cairn(['runs', 'statistics', '--type', 'gone']);
  expect(none.err).toBe('No runs.\n');
  expect((await stage.cairn(['runs', 'statistics', '--since', 'yesterday'])).code).toBe(2);
});
