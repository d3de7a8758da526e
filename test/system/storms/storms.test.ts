/** Storms over one local cloud, in this order: the second one moves the clock. */
import { describe } from '@jest/globals';
import { setCloud } from '../support.ts';
import { duplicates } from './duplicates.suite.ts';
import { slots } from './slots.suite.ts';

describe('a storm over one cloud', () => {
  // Two workers: what one of them has in memory does not keep the other from asking the store.
  const stage = setCloud('sqlite', { workers: 2 });
  duplicates(stage);
  slots(stage);
});
