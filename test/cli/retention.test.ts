import { expect, test } from '@jest/globals';
import type { Answer } from '../../packages/cairn/src/api/openapi/calls.ts';
import { PLAIN } from '../../packages/cli/src/render/style.ts';
import { expiredTable } from '../../packages/cli/src/views/retention.ts';
import { Stage } from './support/stage.ts';

const NOW = Date.parse('2026-03-01T00:00:00.000Z');

test('shows the runs that would be deleted, and why others are kept', () => {
  const ended = {
    rootRunId: 'run_a',
    runs: 2,
    type: 'report',
    completedAt: '2026-01-30T00:00:00.000Z',
  } as const;
  const runs: Answer<'ExpiredRunPage'>['items'] = [
    { ...ended, runId: 'run_a', status: 'completed', would: 'delete' },
    { ...ended, runId: 'run_b', status: 'failed', would: 'keep', because: { why: 'held', runId: 'run_c' } },
    {
      ...ended,
      runId: 'run_d',
      status: 'cancelled',
      would: 'keep',
      because: { why: 'not_due', runId: 'run_e', until: '2026-04-01T00:00:00.000Z' },
    },
  ];
  expect(expiredTable(runs, NOW, { style: PLAIN, columns: undefined }).split('\n').slice(1, 4)).toEqual([
    'run_a  report    completed  30 d ago  delete',
    'run_b  report    failed     30 d ago  keep    run_c is on legal hold',
    'run_d  report    cancelled  30 d ago  keep    run_e has not reached its retention time until 2026-04-01 00:00:00 UTC',
  ]);
});

test('a run is held with a reason, by its first holder, and released', async () => {
  const stage = new Stage();
  const id = (await stage.cairn(['runs', 'start', 'echo', '--input', '{"text":"hello"}'])).out.trim();
  await stage.drive();
  expect((await stage.cairn(['runs', 'hold', id])).code).toBe(2);
  expect((await stage.cairn(['runs', 'hold', id, '--reason', 'x'], { role: 'operator' })).code).toBe(5);
  const held = await stage.cairn(['runs', 'hold', id, '--reason', 'case 4711']);
  expect([held.code, held.out]).toEqual([
    0,
    expect.stringMatching(/on hold since .* by c\.key-installation: case 4711\n$/),
  ]);
  expect((await stage.cairn(['runs', 'hold', id, '--reason', 'another'])).out).toBe(held.out);
  expect((await stage.cairn(['runs', 'retention', id])).out).toMatch(
    / keep\n[\s\S]*on hold +since .*case 4711/,
  );
  expect((await stage.cairn(['runs', 'release', id])).out).toBe(`${id} released\n`);
  expect((await stage.cairn(['runs', 'retention', id])).out).not.toContain('case 4711');
  expect(await stage.cairn(['gc', '--dry-run'])).toMatchObject({ code: 0 });
  expect((await stage.cairn(['gc'], { role: 'operator' })).code).toBe(5);
});
