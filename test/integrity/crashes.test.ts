import { beforeAll, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { defineWorkflow } from '../../packages/cairn/src/engine/define/workflow.ts';
import { OutcomeUnknown } from '../../packages/cairn/src/ports/store-errors.ts';
import { World } from '../support/world.ts';
import { Bench } from './support/bench.ts';
import { completed, waiting } from './support/runs.ts';

const wide = defineWorkflow({
  type: 'wide',
  planVersion: 1,
  input: z.object({}),
  steps: (step) => ({
    each: step.map('each', { over: () => Array.from({ length: 230 }, (_, i) => i) }, ({ item }) => item),
  }),
});

let wideRun: Bench;
beforeAll(async () => {
  const world = new World({ workflows: [wide] });
  const runId = await world.start('wide');
  await world.run();
  wideRun = new Bench(world, runId);
});

/** Beyond what one commit repairs. */
function manySteps(): Bench {
  const bench = wideRun.copy();
  damageAll(bench);
  return bench;
}

function damageAll({ shelf, runId }: Bench): void {
  shelf.delete('runs', runId);
  for (const id of [...shelf.folders.steps.keys()]) shelf.delete('steps', id);
  for (const [id, { members }] of [...shelf.folders.checkpoints]) {
    if (members.boundary === 'run_started') shelf.delete('checkpoints', id);
  }
}

async function damaged(make: () => Promise<Bench>): Promise<Bench> {
  const bench = await make();
  damageAll(bench);
  return bench;
}

class Died extends Error {}

describe('a repair that dies', () => {
  test.each(['before', 'after'] as const)(
    '%s any of its writes can be repeated, and leaves no document half repaired',
    async (moment) => {
      for (let nth = 1, died = true; died; nth += 1) {
        died = false;
        const bench = manySteps();
        let commits = 0;
        bench.shelf.onCommit = (at) => {
          if (at === moment && ++commits === nth) {
            died = true;
            throw new Died();
          }
        };
        const first = bench.repair();
        if (nth <= 2) await expect(first).rejects.toThrow(Died);
        else await first;
        bench.shelf.onCommit = () => {};
        // The finished repairs are recorded completely, and no new problems exist.
        expect(new Set(await bench.codes())).not.toContain('SNAPSHOT_DIFFERENT');
        await bench.repair();
        expect(await bench.check()).toEqual([]);
        const after = bench.shelf.all();
        expect((await bench.repair()).outcome).toBe('sound');
        expect(bench.shelf.all()).toEqual(after);
      }
    },
  );

  test('is recorded once for each of its commits, which name what they did', async () => {
    const bench = manySteps();
    const { events, changes } = await bench.repair();
    expect(events.length).toBe(2);
    expect(changes.length).toBe(bench.shelf.folders.steps.size + 2);
    const repairs = bench.shelf.journal().filter(({ type }) => type === 'snapshot_repaired');
    expect(repairs.map(({ seq }) => seq)).toEqual(events);
    for (const { data } of repairs) {
      expect(data).toMatchObject({ beforeHash: expect.stringMatching(/^[0-9a-f]{64}$/) });
      expect((data as { documents: string[] }).documents.length).toBeLessThanOrEqual(50);
    }
  });
});

describe('a commit whose acknowledgement is lost', () => {
  test.each([
    ['completed', completed],
    ['waiting', waiting],
  ])('is recognised as its own (%s), and recorded once', async (_name, make) => {
    const bench = await damaged(make);
    let lost = 0;
    bench.shelf.onCommit = (at) => {
      if (at === 'after' && ++lost === 1) throw new OutcomeUnknown('repair', 'the answer was lost');
    };
    const pending = bench.repair();
    const { clock } = bench.world;
    // Sending again waits a moment of the pretended time.
    for (let turn = 0; turn < 20; turn += 1) {
      await new Promise((resolve) => setImmediate(resolve));
      if (clock.nextAt !== undefined) clock.jump(Math.max(0, clock.nextAt - clock.now()));
      clock.fireNext(clock.now());
    }
    const { outcome, events } = await pending;
    expect([outcome, events.length]).toEqual(['applied', 1]);
    expect(await bench.check()).toEqual([]);
    expect(bench.shelf.journal().filter(({ type }) => type === 'snapshot_repaired')).toHaveLength(1);
  });
});

test('a run that changes during a repair is read again, and loses nothing', async () => {
  const bench = await damaged(waiting);
  const { shelf } = bench;
  let moved = false;
  shelf.onCommit = (at, { event }) => {
    if (at === 'after' || moved) return;
    moved = true;
    // Somebody repairs it at the same moment and is faster.
    void other.repair();
    expect(event.type).toBe('snapshot_repaired');
  };
  const other = new Bench(bench.world, bench.runId, shelf);
  const reports = await Promise.all([bench.repair(), other.repair()]);
  expect(reports.filter(({ outcome }) => outcome === 'applied').length).toBeGreaterThanOrEqual(1);
  expect(await bench.check()).toEqual([]);
  expect(shelf.journal().filter(({ type }) => type === 'snapshot_repaired')).toHaveLength(1);
});
