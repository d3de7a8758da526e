import { describe, expect, test } from '@jest/globals';
import { explore } from '../../support/explorer.ts';
import { raceOf } from '../../support/race/race.ts';

/** Twenty seconds of one quiet core; a busy machine takes longer, and is not wrong for that. */
const PATIENCE_MS = 240_000;

/** Every order of the calls of everybody: the proof that a lost task, process or answer strands no run. */
describe('two drives, a scan and an outside append at one new run', () => {
  test(
    'end it once, with any one crash, any one lost answer and every task lost',
    async () => {
      const { schedules, states } = await explore(
        raceOf({
          actors: ['drive', 'drive', 'scan', 'signal'],
          crashes: 1,
          lostAnswers: 1,
          loseTasks: true,
        }),
      );
      // A smaller number means that something is no longer explored.
      expect(schedules).toBeGreaterThan(500_000n);
      expect(states).toBeGreaterThan(50_000);
    },
    PATIENCE_MS,
  );
});
