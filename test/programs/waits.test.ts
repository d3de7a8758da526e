import { describe } from '@jest/globals';
import { everySeed } from './every-seed.ts';

/** Regression: a dispatch that only undid a run kept outputs for a result that the run would never have. */
const UNDONE_RESULT = 20_365;

describe('programs that wait for people, events and signals', () => {
  everySeed({
    from: 20_001,
    count: 40,
    also: [UNDONE_RESULT],
    repertoire: { kinds: { step: 6, sleep: 2, approval: 4, event: 4 }, maxSteps: 10, extras: true },
    meet: [
      'wait_resolved',
      'wait_expired',
      'signal_received',
      'feedback_given',
      'policy_evaluated',
      'run_resumed',
      'run_cancelled',
      'orphan_detected',
    ],
  });
});

describe('programs whose approvals take data', () => {
  everySeed({
    from: 21_001,
    count: 20,
    repertoire: { kinds: { step: 5, approval: 6, map: 1, child: 1 }, maxSteps: 8, extras: true, data: true },
    meet: ['wait_resolved', 'feedback_given', 'orphan_detected'],
  });
});
