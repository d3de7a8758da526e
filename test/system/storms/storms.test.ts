/** Storms over one local cloud, in this order, because the second one moves the clock. */
import { describe } from '@jest/globals';
import { setCloud } from '../support.ts';
import { duplicates } from './duplicates.suite.ts';
import { slots } from './slots.suite.ts';

describe('over one cloud with two workers', () => {
  // With two workers, a request may reach the one that has no earlier start in memory.
  const stage = setCloud('sqlite', { workers: 2, isDisturbed: true });
  duplicates(stage);
  slots(stage);
});
