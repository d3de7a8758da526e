import { expect, test } from '@jest/globals';
import { echo } from '../../api/installation.ts';
import { parent } from '../../api/openapi/workflows.ts';
import { Stage } from '../support/stage.ts';

test('lists omit child runs, and say so if nothing else is left', async () => {
  const stage = new Stage([echo, parent]);
  await stage.cairn(['runs', 'start', 'parent', '--input', '{}']);
  await stage.drive();
  const typesOf = async (words: readonly string[]) => {
    const { items } = await stage.answer<{ items: { type: string }[] }>(['runs', 'list', ...words]);
    return items.map(({ type }) => type).sort();
  };
  expect(await typesOf([])).toEqual(['parent']);
  expect(await typesOf(['--children'])).toEqual(['echo', 'parent']);
  const { err } = await stage.cairn(['runs', 'list', '--type', 'echo']);
  expect(err).toContain('--children');
});

test('lists are filtered by the prefix of a thread, and sorted', async () => {
  const stage = new Stage([echo]);
  for (const thread of ['invoice-1', 'order-1', 'invoice-2']) {
    await stage.cairn(['runs', 'start', 'echo', '--input', '{"text":""}', '--thread', thread]);
    stage.installation.world.clock.jump(1_000);
  }
  const threadsOf = async (words: readonly string[]) => {
    const { items } = await stage.answer<{ items: { threadId: string }[] }>(['runs', 'list', ...words]);
    return items.map(({ threadId }) => threadId);
  };
  expect(await threadsOf(['--match', 'Invoice*'])).toEqual(['invoice-2', 'invoice-1']);
  expect(await threadsOf(['--sort', 'oldest', '--match', 'invoice'])).toEqual(['invoice-1', 'invoice-2']);
  const tooMany = await stage.cairn(['runs', 'list', '--sort', 'oldest', '--limit', '1001']);
  expect([tooMany.code, tooMany.err]).toEqual([2, expect.stringContaining('--limit')]);
  const unknown = await stage.cairn(['runs', 'list', '--sort', 'size']);
  expect(unknown.err).toContain('longest');
});

test('a sorted list of more than a thousand runs reads several pages, and reports its limit', async () => {
  const stage = new Stage([echo]);
  const token = await stage.installation.key('operator', { tenantId: 't1', roles: ['operator'] });
  const count = 1_150;
  for (let n = 0; n < count; n += 1) {
    await stage.installation.post(token, { type: 'echo', input: { text: '' }, threadId: `t-${n}` });
    stage.installation.world.clock.jump(10);
  }
  const threads = async (...words: string[]) => {
    const { items } = await stage.answer<{ items: { threadId: string }[] }>(['runs', 'list', ...words]);
    return items.map(({ threadId }) => threadId);
  };
  const rising = Array.from({ length: 1_000 }, (_, n) => `t-${n}`);
  expect(await threads('--sort', 'longest', '--limit', '1000')).toEqual(rising);
  expect(await threads('--sort', 'oldest', '--limit', '1000')).toEqual(rising);
  expect(await threads('--sort', 'updated', '--limit', '1000')).toEqual(
    rising.map((_, n) => `t-${count - 1 - n}`),
  );
  const { err } = await stage.cairn(['runs', 'list', '--limit', '5', '--sort', 'longest']);
  expect(err).toContain('More exist: --limit 25');
});
