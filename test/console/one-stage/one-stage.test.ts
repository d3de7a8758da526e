/**
 * Tests of the console that need no cloud and no browser of their own: to start both takes as much processor time as the tests of a suite. In
 * this order: the first one looks at an installation without schedules.
 */
import { describe } from '@jest/globals';
import { setStage } from '../support/stage.ts';
import { doors } from './door.suite.ts';
import { runActions } from './run-actions.suite.ts';
import { versions } from './versions.suite.ts';

describe('on one stage,', () => {
  const stage = setStage();
  doors(stage);
  versions(stage);
  runActions(stage);
});
