import { describe, expect, test } from '@jest/globals';
import { explore } from '../../support/explorer.ts';
import { type Race, raceOf } from '../../support/race/race.ts';
import { EVERY_ORDER } from '../../support/race/size.ts';

/** Time limit for a busy machine. An idle core takes half a minute, if everything is explored. */
const PATIENCE_MS = 900_000;

interface Shown {
  readonly claim: string;
  readonly race: Race;
  /** Smaller numbers mean that something is no longer explored. */
  readonly schedules: bigint;
  readonly states: number;
}

const WHOLE: Shown = {
  claim: 'two drives, a scan and an outside append, any one crash and any one lost answer',
  race: { actors: ['drive', 'drive', 'scan', 'signal'], crashes: 1, lostAnswers: 1, loseTasks: true },
  schedules: 500_000n,
  states: 50_000,
};

/** Parts of the whole race, each with something left out. */
const PARTS: readonly Shown[] = [
  {
    claim: 'two drives and an outside append, undisturbed',
    race: { actors: ['drive', 'drive', 'signal'], loseTasks: true },
    schedules: 400n,
    states: 450,
  },
  {
    claim: 'a drive, a scan and an outside append, any one crash',
    race: { actors: ['drive', 'scan', 'signal'], crashes: 1, loseTasks: true },
    schedules: 900n,
    states: 1_000,
  },
  {
    claim: 'a drive, a scan and an outside append, any one lost answer',
    race: { actors: ['drive', 'scan', 'signal'], lostAnswers: 1, loseTasks: true },
    schedules: 1_350n,
    states: 1_850,
  },
  {
    claim: 'a drive and an outside append, any one crash and any one lost answer',
    race: { actors: ['drive', 'signal'], crashes: 1, lostAnswers: 1, loseTasks: true },
    schedules: 270n,
    states: 400,
  },
];

/** Explores every order of the calls of all processes: no lost task, process or answer strands a run. */
describe('one new run whose every task is lost ends once, in every order of', () => {
  test.each(EVERY_ORDER ? [WHOLE] : PARTS)(
    '$claim',
    async ({ race, schedules, states }) => {
      const explored = await explore(raceOf(race));
      expect(explored.schedules).toBeGreaterThan(schedules);
      expect(explored.states).toBeGreaterThan(states);
    },
    PATIENCE_MS,
  );
});
