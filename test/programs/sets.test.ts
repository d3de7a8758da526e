import { describe } from '@jest/globals';
import { everySeed } from './every-seed.ts';

/** Regression: a child was lost to a shutdown and two deaths, and its parent continued without it. */
const LOST_CHILD = 30_375;
/**
 * Regression: behind a set with waiting items, a step of a run that was dispatched alone never began, and the run was claimed
 * and released endlessly.
 */
const BEHIND_A_SET = 30_394;
/** Regression: a child ended while its parent was being undone. */
const LATE_CHILD = 30_411;

describe('programs of maps, children and sets of children', () => {
  everySeed({
    from: 30_001,
    count: 40,
    also: [LOST_CHILD, BEHIND_A_SET, LATE_CHILD],
    repertoire: { kinds: { step: 4, map: 4, child: 3, sleep: 1 }, maxSteps: 8, extras: true },
    meet: [
      'step_failed',
      'step_degraded',
      'compensation_started',
      'step_compensated',
      'compensation_failed',
      'orphan_detected',
      'run_released',
    ],
  });
});
