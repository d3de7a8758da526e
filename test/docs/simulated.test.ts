import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { allTables } from '../../bench/simulate/tables.ts';

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

/** Cells as they are read, whatever the alignment. */
const plain = (text: string) => text.replace(/ *\| */g, '|').replace(/-{3,}/g, '-');

test('the documents show what the simulator prints: npm run simulate -- --tables', async () => {
  const tables = await allTables();
  expect(tables.map(({ name }) => name)).toHaveLength(9);
  for (const { document, text } of tables) expect(plain(read(document))).toContain(plain(text));
});
