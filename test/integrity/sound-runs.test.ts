import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { MAX_SHARDS, shardOf } from '../../packages/cairn/src/core/encoding/ids.ts';
import { firstEventOf } from '../../packages/cairn/src/core/run/first-event.ts';
import { defineWorkflow } from '../../packages/cairn/src/engine/define/workflow.ts';
import { startRun } from '../../packages/cairn/src/operations/start/start-run.ts';
import { suspendRun } from '../../packages/cairn/src/operations/suspend-run.ts';
import { setTo } from '../../packages/cairn/src/ports/clock.ts';
import { scan } from '../../packages/cairn/src/recovery/scan.ts';
import { plainStart, World } from '../support/world.ts';
import { Bench, TENANT } from './support/bench.ts';
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

const SCANS = 30;
/** The clock of the process that scans is ahead by this. */
const AHEAD_MS = 4 * 60_000;

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

describe('an undamaged run', () => {
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

/** Without a task that a queue delivers, as if it were paused. */
const SCANNED: { readonly [name: string]: () => Promise<Bench> } = {
  pending,
  waiting,
  'suspended while pending': () => suspended(pending),
  'suspended while waiting': () => suspended(waiting),
};

describe('a run that only the scan sees for days', () => {
  test.each(Object.entries(SCANNED))('(%s) has no problems after any scan', async (_name, make) => {
    const { world, runId } = await make();
    for (let i = 0; i < SCANS; i += 1) {
      const now = world.clock.now();
      world.clock.jump(Math.max(60_000, (world.db.runs.get(runId)?.wakeAt ?? now) - now));
      await scan({ ...world.deps, clock: setTo(world.clock, world.clock.now() + AHEAD_MS) });
      expect(await new Bench(world, runId).check()).toEqual([]);
    }
    expect(world.clock.now() - world.stateOf(runId).createdAt).toBeGreaterThan(2 * 3_600_000);
  });
});

async function suspended(make: () => Promise<Bench>): Promise<Bench> {
  const bench = await make();
  const { world, runId } = bench;
  await suspendRun(world.deps, { runId, tenantId: TENANT, actor: 'c.operator', reason: 'not now' });
  return bench;
}

describe('a run with a successor, and the successor,', () => {
  test.each(['resume', 'replay', 'fork'] as const)('have no problems after any commit (%s)', async (mode) => {
    const problems: unknown[] = [];
    let commits = 0;
    await successor(mode, async (made) => {
      commits += 1;
      problems.push(...(await made.check()));
    });
    expect(commits).toBeGreaterThan(2);
    expect(problems).toEqual([]);
  });

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

describe('a run that was started when the installation had a different number of shards', () => {
  const workflow = defineWorkflow({
    type: 'sharded',
    planVersion: 1,
    input: z.object({}),
    steps: (step) => ({ done: step('do', () => 'done') }),
  });

  async function startedWith(shards: number): Promise<Bench> {
    const world = new World({ workflows: [workflow] });
    const deps = { ...world.deps, records: world.records, shards };
    const started = await startRun(deps, plainStart(workflow, {}));
    if (started.kind === 'in_flight') throw new Error('in flight');
    await world.run();
    return new Bench(world, started.runId);
  }

  test.each([16, 17, 64, MAX_SHARDS])(
    '(%d) has no problems, keeps its shard, and is restored with it',
    async (shards) => {
      const bench = await startedWith(shards);
      const shard = shardOf(bench.runId, shards);
      expect(bench.shelf.snapshot()).toMatchObject({ status: 'completed', shard });
      expect(await bench.check()).toEqual([]);
      bench.shelf.delete('runs', bench.runId);
      await bench.repair();
      expect(bench.shelf.snapshot()).toMatchObject({ status: 'completed', shard });
      expect(await bench.check()).toEqual([]);
    },
  );

  test.each([16, MAX_SHARDS])('(%d) has a first event that can be rebuilt from its state', async (shards) => {
    const { world, runId } = await startedWith(shards);
    const [first] = world.db.runs.get(runId)?.events ?? [];
    if (!first) throw new Error('no event');
    // Only a shard that nobody can derive is in the journal.
    expect('shard' in first.data).toBe(shards !== 16);
    expect(firstEventOf(world.stateOf(runId), first.id, first.hash)).toEqual(first);
  });
});
