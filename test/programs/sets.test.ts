import { describe } from '@jest/globals';
import { everySeed } from './every-seed.ts';

describe('programs of maps, children and sets of children', () => {
  everySeed({
    from: 30_001,
    count: 100,
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
