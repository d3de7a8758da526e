import { expect, test } from '@jest/globals';
import { echo } from '../../api/installation.ts';
import { parent } from '../../api/openapi/workflows.ts';
import { Stage } from '../support/stage.ts';

test('lists leave out child runs, and say so where nothing else is left', async () => {
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
