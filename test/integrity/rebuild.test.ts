import type { Timestamp } from '@google-cloud/firestore';
import { describe, expect, test } from '@jest/globals';
import { differing } from '../../packages/cairn/src/core/integrity/differing.ts';
import { reduce } from '../../packages/cairn/src/core/run/reduce/index.ts';
import { wakeAt } from '../../packages/cairn/src/core/run/wake.ts';
import type { Bench } from './support/bench.ts';
import { completed, driven, halted, pending, startedLarge, waiting } from './support/runs.ts';
import type { Document } from './support/shelf.ts';

const RUNS: { readonly [name: string]: () => Promise<Bench> } = {
  pending,
  driven,
  waiting,
  halted,
  completed,
  'with a large input': startedLarge,
};

describe('without its own document and those of its steps', () => {
  test.each(Object.entries(RUNS))(
    'a run (%s) is restored from its journal, member for member',
    async (_name, make) => {
      const bench = await make();
      const { shelf, runId } = bench;
      const steps = new Map(shelf.folders.steps);
      const before = shelf.snapshot();
      const journal = shelf.journal();
      shelf.delete('runs', runId);
      for (const id of steps.keys()) shelf.delete('steps', id);

      const report = await bench.repair();

      expect(report.outcome).toBe('applied');
      expect(await bench.check()).toEqual([]);
      // The journal's events after the old snapshot, and the record of the repair.
      const expected = shelf.journal().slice(before.head).reduce(reduce, before);
      expect(expected.head).toBe(journal.length + report.events.length);
      expect(differing(shelf.snapshot(), expected)).toEqual([]);
      const stored = shelf.members('runs', runId).wakeAt as Timestamp | undefined;
      expect(stored?.toMillis()).toBe(wakeAt(expected));
      expect(membersOf(shelf.folders.steps)).toEqual(membersOf(steps));
    },
  );
});

function membersOf(documents: ReadonlyMap<string, Document>): ReadonlyMap<string, object> {
  return new Map([...documents].map(([id, { members }]) => [id, members]));
}
