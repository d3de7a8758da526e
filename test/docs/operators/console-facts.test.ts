import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { Run } from '../../../packages/cairn/src/api/openapi/schemas/runs.ts';

const docs = readFileSync(new URL('../../../docs/console.md', import.meta.url), 'utf8');

/** Members in the first column of the table, in its order. */
function placed(): string[] {
  const section = docs.split('## Where each fact of a run is')[1]?.split('\n## ')[0] ?? '';
  const rows = section.split('\n').filter((line) => line.startsWith('| `'));
  return rows.flatMap((row) =>
    [...(row.split('|')[1] ?? '').matchAll(/`(\w+)`/g)].map(([, name = '']) => name),
  );
}

test('docs/console.md gives every member of a run one place on its page, and names no other', () => {
  const names = placed();
  expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
  expect(names.toSorted()).toEqual(Object.keys(Run.shape).toSorted());
});
