import { describe, expect, test } from '@jest/globals';
import type { Bench } from './support/bench.ts';
import {
  acted,
  completed,
  doubtful,
  driven,
  halted,
  pending,
  startedLarge,
  waiting,
} from './support/runs.ts';

const RUNS: { readonly [name: string]: () => Promise<Bench> } = {
  pending,
  driven,
  waiting,
  halted,
  completed,
  acted,
  doubtful,
  'with a large input': startedLarge,
};

describe('a run that nothing has happened to', () => {
  test.each(Object.entries(RUNS))(
    '(%s) has no problems, and a repair changes nothing',
    async (_name, make) => {
      const bench = await make();
      expect(await bench.check()).toEqual([]);
      const before = bench.shelf.all();
      expect(await bench.repair()).toEqual({
        outcome: 'sound',
        changes: [],
        places: [],
        refused: [],
        events: [],
      });
      expect(bench.shelf.all()).toEqual(before);
    },
  );
});
