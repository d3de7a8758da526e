/** Effects at a receiver that acts each time it is called and whose first answer is lost, over one local cloud. In this order: the second suite restores its database. */
import { describe } from '@jest/globals';
import { setCloud } from '../support.ts';
import { restores } from './restored.suite.ts';
import { twoPeople } from './two-people.suite.ts';

describe('over one cloud with two workers,', () => {
  const stage = setCloud('sqlite', { functions: 'effect-functions', workers: 2 });
  twoPeople(stage);
  restores(stage);
});
