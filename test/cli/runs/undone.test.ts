import { expect, test } from '@jest/globals';
import { undoing } from '../../console/fixtures/run-view.ts';
import { Stage } from '../support/stage.ts';

test('a partly undone run shows which step was undone, and whose compensation failed', async () => {
  const stage = new Stage([undoing]);
  const { out } = await stage.cairn(['runs', 'start', 'undoing', '--input', '{"order":"o-1"}']);
  await stage.drive();
  const { out: page } = await stage.cairn(['runs', 'show', out.trim()]);
  expect(page).toMatch(/^reserve +succeeded, undone /m);
  expect(page).toMatch(/^charge +succeeded, undo failed /m);
  const { out: why } = await stage.cairn(['explain', out.trim()]);
  expect(why).toContain('Failed in step ship. 1 step was undone. The undo of charge failed.');
});
