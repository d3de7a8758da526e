import { expect, test } from '@jest/globals';
import { endingOf } from '../../../functions/src/core/decisions/ending.ts';

test.each([
  [{ cancelAsked: false, failed: false, unsettled: 1 }, undefined],
  [{ cancelAsked: false, failed: false, unsettled: 0 }, 'complete'],
  [{ cancelAsked: false, failed: true, unsettled: 0 }, 'fail'],
  [{ cancelAsked: false, failed: true, unsettled: 3 }, 'fail'],
  [{ cancelAsked: true, failed: false, unsettled: 3 }, 'cancel'],
  [{ cancelAsked: true, failed: false, unsettled: 0 }, 'cancel'],
  [{ cancelAsked: true, failed: true, unsettled: 0 }, 'cancel'],
])('%j ends as %s', (facts, ending) => {
  expect(endingOf(facts)).toBe(ending);
});
