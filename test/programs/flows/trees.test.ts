import { expect, test } from '@jest/globals';
import { flowTrial } from './trial.ts';

const FIRST = 1;
const COUNT = 60;
/** Time limit for a busy machine. An idle core needs a few seconds. */
const PATIENCE_MS = 240_000;

const MEET = [
  'step_retry_scheduled',
  'run_suspended',
  'orphan_detected',
  'step_failed',
  'run_failed',
  'wait_resolved',
];

test(
  'drawn code runs as a flow to the end of the same code without durability',
  async () => {
    const { SEED: only, SEEDS: more } = process.env;
    if (only !== undefined) {
      await flowTrial(Number(only));
      return;
    }
    const met = new Set<string>();
    let completed = 0;
    let givenUp = 0;
    const seeds = Array.from({ length: Number(more ?? COUNT) }, (_, i) => FIRST + i);
    for (const seed of seeds) {
      const outcome = await flowTrial(seed);
      if (outcome.end === 'completed') completed += 1;
      if (outcome.end === 'given up') givenUp += 1;
      for (const type of outcome.met) met.add(type);
    }
    expect(givenUp).toBeLessThanOrEqual(seeds.length / 50);
    expect(completed).toBeGreaterThan(seeds.length / 3);
    expect(MEET.filter((type) => !met.has(type))).toEqual([]);
  },
  PATIENCE_MS,
);
