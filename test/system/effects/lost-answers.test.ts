/** Effects at a receiver that does not deduplicate and loses its first answer, over one local cloud. Ordered, because the second suite restores the database. */
import { describe } from '@jest/globals';
import { setCloud } from '../support.ts';
import { restores } from './restored.suite.ts';
import { twoPeople } from './two-people.suite.ts';

describe('over one cloud with two workers,', () => {
  const stage = setCloud('sqlite', { functions: 'effect-functions', workers: 2 });
  twoPeople(stage);
  restores(stage);
});
