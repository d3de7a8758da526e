/** Runs the trials of a test file: all its seeds, the number in the environment variable SEEDS, or only the seed in SEED. */
import { expect, test } from '@jest/globals';
import type { Repertoire } from './data/generate.ts';
import { type Met, trial } from './trial.ts';

export interface Seeds {
  readonly from: number;
  readonly count: number;
  /** Additional seeds, each of which once found a defect. */
  readonly also?: readonly number[];
  readonly repertoire: Repertoire;
  /** Faults that some seeds must meet, because seeds without faults prove nothing. */
  readonly meet: readonly Met[];
}

/** Time limit for a busy machine. An idle core needs a few seconds. */
const PATIENCE_MS = 240_000;

export function everySeed({ from, count, also = [], repertoire, meet }: Seeds): void {
  const { SEED: only, SEEDS: more } = process.env;
  const seeds = [...Array.from({ length: Number(more ?? count) }, (_, i) => from + i), ...also];
  test(
    `end as the reference predicts, ${seeds.length} of them`,
    async () => {
      if (only !== undefined) {
        await trial({ seed: Number(only), repertoire });
        return;
      }
      const ends: string[] = [];
      const met = new Set<Met>();
      for (const seed of seeds) {
        const outcome = await trial({ seed, repertoire });
        ends.push(...outcome.ends);
        for (const type of outcome.met) met.add(type);
      }
      expect(ends.length).toBeGreaterThanOrEqual(seeds.length);
      expect(ends.filter((end) => end === 'completed').length).toBeGreaterThan(seeds.length / 3);
      expect(meet.filter((type) => !met.has(type))).toEqual([]);
    },
    PATIENCE_MS,
  );
}
