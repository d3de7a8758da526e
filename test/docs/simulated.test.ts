import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { allTables, type Table, withTables } from '../../bench/simulate/tables.ts';

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

test('the documents show the output of the simulator; npm run simulate -- --write-tables updates them', async () => {
  const tables = await allTables();
  const documents = Map.groupBy(tables, ({ document }) => document);
  expect([...documents.keys()]).toEqual(['docs/scale.md', 'docs/prices.md']);
  for (const [path, own] of documents) {
    expect(read(path).match(/<!-- simulated: /g)).toHaveLength(own.length);
    expect(read(path)).toBe(withTables(read(path), own));
  }
});

test('a table replaces the text under its mark, and nothing else', () => {
  const table = (name: string, text: string): Table => ({ document: 'docs/scale.md', name, text });
  const before = 'a\n\n<!-- simulated: one -->\nold\nolder\n\nb\n\n<!-- simulated: two -->\nlast\n';
  const after = withTables(before, [table('one', 'new'), table('two', 'end')]);
  expect(after).toBe('a\n\n<!-- simulated: one -->\nnew\n\nb\n\n<!-- simulated: two -->\nend\n');
  expect(() => withTables(before, [table('three', 'x')])).toThrow("'three'");
});
