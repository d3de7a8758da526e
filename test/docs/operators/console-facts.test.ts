import { expect, test } from '@jest/globals';
import { Run } from '../../../packages/cairn/src/api/openapi/schemas/runs.ts';
import { placesOf } from '../../console/facts/places.ts';

// test/console/ finds each member in Chromium at the place that is named.
test('docs/console.md gives every member of a run one place on its page, and names no other', () => {
  const names = placesOf().map(({ member }) => member);
  expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
  expect(names.toSorted()).toEqual(Object.keys(Run.shape).toSorted());
});
