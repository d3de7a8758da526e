import { expect, test } from '@jest/globals';
import { familyOf, type Relative, topOf } from '../../../packages/console/src/pages/run/header/family.ts';

const run = (id: string, parent?: string, topRunId?: string): Relative => ({
  id,
  type: 'x',
  status: 'running',
  createdAt: `2026-01-01T00:00:0${id.length}.000Z`,
  ...(parent && { parent: { runId: parent, stepId: 'step', ...(topRunId && { topRunId }) } }),
});
const told = (runs: readonly Relative[], top: string) =>
  familyOf(runs, top).map(({ run: { id }, depth }) => `${'-'.repeat(depth)}${id}`);

test('children follow their parent in creation order, without other families', () => {
  const runs = [run('ccc', 'a'), run('d', 'bb'), run('bb', 'a'), run('a'), run('other'), run('e', 'gone')];
  expect(told(runs, 'a')).toEqual(['a', '-bb', '--d', '-ccc']);
});

test('every run of a family names its topmost run', () => {
  expect([topOf(run('a')), topOf(run('b', 'a')), topOf(run('c', 'b', 'a'))]).toEqual(['a', 'a', 'a']);
});

test('a family without its topmost run lists its other members, and a damaged cycle of parents terminates', () => {
  expect(told([run('b', 'a'), run('cc', 'b'), run('other')], 'a')).toEqual(['-b', '--cc']);
  expect(told([run('a', 'b'), run('b', 'a')], 'a')).toEqual(['a', '-b']);
});
