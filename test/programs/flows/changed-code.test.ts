import { expect, test } from '@jest/globals';
import { changedCodeTrial } from './changed-code.ts';

const FIRST = 1;
const COUNT = 150;
/** Time limit for a busy machine. An idle core needs a few seconds. */
const PATIENCE_MS = 240_000;

test(
  'a flow whose code was changed while its run lived ends, and has diverged only if it could not continue',
  async () => {
    const { SEED: only, SEEDS: more } = process.env;
    if (only !== undefined) {
      await changedCodeTrial(Number(only));
      return;
    }
    const ends: string[] = [];
    for (let seed = FIRST; seed < FIRST + Number(more ?? COUNT); seed += 1)
      ends.push(await changedCodeTrial(seed));
    expect(ends.filter((end) => end === 'completed').length).toBeGreaterThan(ends.length / 2);
    expect(ends.filter((end) => end === 'diverged').length).toBeGreaterThan(ends.length / 20);
  },
  PATIENCE_MS,
);
