import { describe, expect, test } from '@jest/globals';
import type { Bench } from './support/bench.ts';
import {
  acted,
  completed,
  doubtful,
  driven,
  halted,
  pending,
  resumed,
  startedLarge,
  successor,
  superseded,
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
  resumed,
  superseded,
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

describe('a run that another goes on from, and that one', () => {
  test.each(['resume', 'replay', 'fork'] as const)(
    'have no problems (%s), and are restored from their journals',
    async (mode) => {
      const { source, made } = await successor(mode);
      expect(made.shelf.snapshot().status).toBe('completed');
      for (const bench of [source, made]) {
        expect(await bench.check()).toEqual([]);
        const { shelf, runId } = bench;
        const before = bench.copy();
        shelf.delete('runs', runId);
        for (const folder of ['steps', 'checkpoints'] as const)
          for (const [id, { members }] of [...shelf.folders[folder]])
            if (members.outputRef === undefined && members.stepId !== 'break') shelf.delete(folder, id);
        const { refused } = await bench.repair();
        // An input or result that is nowhere else cannot be made up.
        expect(refused.every(({ code }) => code === 'CHECKPOINT_MISSING')).toBe(true);
        const lost = new Set(refused.map(({ subject }) => subject));
        for (const folder of ['steps', 'checkpoints'] as const)
          for (const [id, { members }] of before.shelf.folders[folder])
            if (!lost.has(`${folder}/${id}`)) expect(shelf.members(folder, id)).toEqual(members);
      }
    },
  );
});
