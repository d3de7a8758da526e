/** Runs the trials of a test file: all its seeds, or the one of the environment variable SEED. */
import { expect, test } from '@jest/globals';
import type { Repertoire } from './data/generate.ts';
import { trial } from './trial.ts';

export interface Seeds {
  readonly from: number;
  readonly count: number;
  readonly repertoire: Repertoire;
}

/** One quiet core needs a fraction of it. */
const PATIENCE_MS = 240_000;

export function everySeed({ from, count, repertoire }: Seeds): void {
  const only = process.env.SEED;
  // More of them, to look for what the usual ones do not show.
  const wanted = Number(process.env.SEEDS ?? count);
  const seeds = only === undefined ? Array.from({ length: wanted }, (_, i) => from + i) : [Number(only)];
  test(
    `come to the end the reference predicts, ${seeds.length} of them`,
    async () => {
      const ends = new Map<string, number>();
      for (const seed of seeds) {
        for (const end of await trial({ seed, repertoire })) ends.set(end, (ends.get(end) ?? 0) + 1);
      }
      expect([...ends.values()].reduce((sum, n) => sum + n, 0)).toBeGreaterThanOrEqual(seeds.length);
      if (only === undefined) expect(ends.get('completed')).toBeGreaterThan(seeds.length / 4);
    },
    PATIENCE_MS,
  );
}
