import { expect, test } from '@jest/globals';
import {
  MAX_CHOSEN,
  NONE_CHOSEN,
  toggledRow,
  withRows,
} from '../../../packages/console/src/pages/runs/selection.ts';
import { rowNumber } from './support/summaries.ts';

test('selecting a run twice deselects it', () => {
  const once = toggledRow(NONE_CHOSEN, rowNumber(1));
  expect([...once.keys()]).toEqual([rowNumber(1).id]);
  expect(toggledRow(once, rowNumber(1)).size).toBe(0);
});

test('the selection is limited', () => {
  const many = Array.from({ length: MAX_CHOSEN + 10 }, (_, i) => rowNumber(i));
  const most = withRows(NONE_CHOSEN, many);
  expect(most.size).toBe(MAX_CHOSEN);
  expect(toggledRow(most, rowNumber(MAX_CHOSEN + 5))).toEqual(most);
  expect(toggledRow(most, rowNumber(3)).size).toBe(MAX_CHOSEN - 1);
});
