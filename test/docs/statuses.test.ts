import { expect, test } from '@jest/globals';
import { RUN_STATUSES } from '../../packages/cairn/src/core/run/status.ts';
import { projectStatus, runsCalled, VOCABULARIES } from '../../packages/cairn/src/core/run/vocabulary.ts';
import { readDocument } from './snippets.ts';

const text = readDocument('docs/statuses.md');

test('the table of docs/statuses.md equals that of the code', () => {
  const rows = [...text.matchAll(/^\| (`.*`.*) \|$/gm)].map(([, row = '']) =>
    row.split(' | ').map((cell) => [...cell.matchAll(/`(\w+)`/g)].map(([, word]) => word)),
  );
  const called = RUN_STATUSES.map((status) =>
    VOCABULARIES.map((vocabulary) => {
      const words = [undefined, 'halt'].map((stopKind) => projectStatus({ status, stopKind }, vocabulary));
      return [...new Set(words)];
    }),
  );
  expect(rows).toEqual([VOCABULARIES.map((name) => [name]), ...called]);
});

test('the filters in docs/statuses.md behave as documented', () => {
  expect(text).toMatch(/`\?vocabulary=orcho&status=running` lists\s+those of four statuses/);
  expect(runsCalled('running', 'orcho').statuses).toHaveLength(4);
  expect(runsCalled('done', 'cairn').statuses).toEqual(['completed']);
  expect(runsCalled('halted', 'cairn').stopKinds).toEqual(['halt']);
});
