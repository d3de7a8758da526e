import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { scenarios } from '../sweep/scenarios/index.ts';

test('the table of swept flows names every scenario of a flow or loop, and no other', () => {
  const page = readFileSync(join(import.meta.dirname, '../../docs/sweep.md'), 'utf8');
  const [, section = ''] = /\n## Flows and loops\n([\s\S]*?)\n## /.exec(page) ?? [];
  const documented = new Set(section.match(/(?<=`)(?:flow|loop)(?:-[a-z-]+)?(?=`)/g));
  const swept = scenarios.map(({ name }) => name).filter((name) => /^(flow|loop)(-|$)/.test(name));
  expect([...documented].sort()).toEqual(swept.sort());
  expect(section).toContain(`There are ${swept.length} scenarios.`);
});
