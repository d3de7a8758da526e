/**
 * Tests that kill nothing and need no installation of their own, over one local cloud: to start one takes as much processor time as all that
 * a suite does. The first one counts all runs.
 */
import { describe } from '@jest/globals';
import { setCloud } from '../support.ts';
import { events } from './events.suite.ts';
import { deliveriesOfGithub } from './github.suite.ts';
import { largeValues } from './large-values.suite.ts';
import { slack } from './slack.suite.ts';
import { successors } from './successors.suite.ts';

describe('over one cloud,', () => {
  const stage = setCloud('sqlite');
  deliveriesOfGithub(stage);
  largeValues(stage);
  successors(stage);
  events(stage);
  slack(stage);
});
