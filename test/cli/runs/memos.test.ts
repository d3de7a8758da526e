import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { Stage } from '../support/stage.ts';

const imports = defineWorkflow({
  type: 'imports',
  planVersion: 1,
  input: z.object({}),
  steps: (step) => ({
    rows: step('import', async ({ memo }) => {
      for (const page of [1, 2]) await memo(`page-${page}`, () => ({ rows: page * 10 }));
      await memo('odd\u001b[2J', () => 'x'.repeat(500));
    }),
  }),
});

test('runs memos prints the memos of a step, complete with --json', async () => {
  const stage = new Stage([imports]);
  await stage.cairn(['runs', 'start', 'imports']);
  await stage.drive();
  const { code, out, err } = await stage.cairn(['runs', 'memos', 'last', 'import']);
  expect([code, err]).toEqual([0, '']);
  const [head, ...rows] = out.trimEnd().split('\n');
  expect(head).toMatch(/^MEMO +RECORDED +VALUE$/);
  expect(rows).toHaveLength(3);
  expect(rows.filter((row) => /^page-\d .*\{"rows":\d0\}$/.test(row))).toHaveLength(2);
  expect(out).not.toContain('\u001b');
  const json = JSON.parse((await stage.cairn(['runs', 'memos', 'last', 'import', '--json'])).out);
  expect(json).toHaveLength(3);
  expect(json.find(({ name }: { name: string }) => name === 'page-2')).toMatchObject({ value: { rows: 20 } });
  expect((await stage.cairn(['runs', 'memos', 'last', 'import', '--limit', '2'])).err).toContain('--limit');
  expect((await stage.cairn(['runs', 'memos', 'last', 'import', '--undo'])).err).toBe('No memos.\n');
});
