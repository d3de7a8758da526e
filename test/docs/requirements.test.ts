/** Each row of docs/requirements.md names existing tests. */
import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';

const page = readFileSync('docs/requirements.md', 'utf8');
const [table = ''] = page.split('## Decided otherwise');
const rows = table
  .split('\n')
  .filter((line) => line.startsWith('| ') && !line.startsWith('| requirement'))
  .map((line) => line.split('|').map((cell) => cell.trim()))
  .map(([, requirement = '', tests = '']) => ({ requirement, tests }));

test('every requirement names at least one test, by its path', () => {
  expect(rows.length).toBeGreaterThan(100);
  for (const { requirement, tests } of rows)
    expect([requirement, tests]).toEqual([
      requirement,
      expect.stringMatching(/^`[\w/.-]+\.test\.ts`(, `[\w/.-]+\.test\.ts`)*$/),
    ]);
});

test('every named test exists and tests something', () => {
  const paths = new Set(
    rows.flatMap(({ tests }) => [...tests.matchAll(/`([^`]+)`/g)].map(([, path = '']) => path)),
  );
  for (const path of paths)
    expect([path, readFileSync(`test/${path}`, 'utf8')]).toEqual([
      path,
      expect.stringMatching(/\b(describe|test)\b[.(]/),
    ]);
});

test('no requirement is listed twice', () => {
  const texts = rows.map(({ requirement }) => requirement);
  expect(texts.filter((text, i) => texts.indexOf(text) !== i)).toEqual([]);
});
