import { describe } from '@jest/globals';
import { everySeed } from './every-seed.ts';

describe('programs of all kinds of steps', () => {
  everySeed({
    from: 10_001,
    count: 60,
    repertoire: {
      kinds: { step: 8, map: 2, sleep: 1, approval: 2, event: 2, child: 1 },
      maxSteps: 10,
      extras: true,
    },
    meet: [
      'wait_expired',
      'signal_received',
      'feedback_given',
      'step_compensated',
      'orphan_detected',
      'suspend_requested',
      'continue_requested',
      'polled',
      'failed_from_outside',
    ],
  });
});
