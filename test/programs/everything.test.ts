import { describe } from '@jest/globals';
import { everySeed } from './every-seed.ts';

describe('programs of all kinds of steps', () => {
  const kinds = { step: 8, map: 2, sleep: 1, approval: 2, event: 2, child: 1 };
  everySeed({ from: 10_001, count: 200, repertoire: { kinds, maxSteps: 10, extras: true } });
});
