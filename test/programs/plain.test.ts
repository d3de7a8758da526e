import { describe } from '@jest/globals';
import { everySeed } from './every-seed.ts';

describe('programs of plain steps and sleeps', () => {
  everySeed({
    from: 1,
    count: 40,
    repertoire: { kinds: { step: 8, sleep: 1 }, maxSteps: 10, extras: false },
    meet: [
      'step_retry_scheduled',
      'step_skipped',
      'step_failed',
      'run_suspended',
      'run_released',
      'orphan_detected',
      'cancel_requested',
      'run_failed',
    ],
  });
});
