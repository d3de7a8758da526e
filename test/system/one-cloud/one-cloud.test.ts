/**
 * Tests that kill no process and need no installation of their own share one local cloud, because its start takes as much
 * processor time as a suite. The last suite fills the worker.
 */
import { describe } from '@jest/globals';
import { setCloud } from '../support.ts';
import { events } from './events.suite.ts';
import { deliveriesOfGithub } from './github.suite.ts';
import { largeValues } from './large-values.suite.ts';
import { neighbours } from './neighbours.suite.ts';
import { slack } from './slack.suite.ts';
import { successors } from './successors.suite.ts';

describe('over one cloud,', () => {
  const stage = setCloud('sqlite');
  deliveriesOfGithub(stage);
  largeValues(stage);
  successors(stage);
  events(stage);
  slack(stage);
  neighbours(stage);
});
