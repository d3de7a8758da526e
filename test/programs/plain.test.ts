import { describe } from '@jest/globals';
import { everySeed } from './every-seed.ts';

describe('programs of plain steps and sleeps', () => {
  everySeed({
    from: 1,
    count: 200,
    repertoire: { kinds: { step: 8, sleep: 1 }, maxSteps: 10, extras: false },
  });
});
