import { expect, test } from '@jest/globals';
import { Run } from '../../../packages/cairn/src/api/openapi/schemas/runs.ts';
import { placesOf } from '../../console/facts/places.ts';

// test/console/ finds each member in Chromium at the place that is named.
test('docs/console.md has each member of a run once, and no other', () => {
  const names = placesOf().map(({ member }) => member);
  expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
  expect(names.toSorted()).toEqual(Object.keys(Run.shape).toSorted());
});
