/** Number of draws: the environment variable SEEDS, or only the seed in SEED. */
import { describe, expect, test } from '@jest/globals';
import type { Outcome } from './judge.ts';
import { trial } from './trial.ts';

const FEW = 25;
const PATIENCE_MS = 3_600_000;

describe('a hostile run in a crowd', () => {
  const { SEED: only, SEEDS: more = FEW } = process.env;
  const seeds = only ? [Number(only)] : Array.from({ length: Number(more) }, (_, i) => i + 1);
  test(
    `fails no innocent run, costs at most five processes, and ends, in ${seeds.length} draws`,
    async () => {
      const outcomes: Outcome[] = [];
      const problems: string[] = [];
      for (const seed of seeds) {
        await trial(seed).then(
          (outcome) => outcomes.push(outcome),
          ({ message }: Error) => problems.push(message),
        );
      }
      expect(problems).toEqual([]);
      const ends = new Set(outcomes.map(({ hostile }) => hostile));
      // Draws without deaths prove nothing.
      if (!only) expect(ends).toContain('RUN_RESUME_FAILED');
    },
    PATIENCE_MS,
  );
});
