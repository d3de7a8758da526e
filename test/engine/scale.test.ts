import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import type { Handle } from '../../packages/cairn/src/engine/define/types.ts';
import { defineWorkflow } from '../../packages/cairn/src/engine/define/workflow.ts';
import { MAX_COMMIT_BYTES, MAX_COMMIT_WRITES } from '../../packages/cairn/src/journal/batch.ts';
import type { JournalCommit } from '../../packages/cairn/src/ports/run-store.ts';
import { encodeNewSnapshot } from '../../packages/cairn/src/store/codec/snapshot.ts';
import { intercept } from '../support/intercept.ts';
import { assertStored } from '../support/soundness.ts';
import { World, type WorldOptions } from '../support/world.ts';

const WIDTH = 100;
const LENGTH = 5_000;
const ITEMS = 1_000;
/** Each item's output: all of them together are more than one checkpoint, or one commit, can carry. */
const ITEM_BYTES = 5_000;
const MIB = 1024 * 1024;

/** Cost of one commit. */
interface Cost {
  readonly writes: number;
  readonly bytes: number;
  readonly steps: readonly string[];
  /** Size of the run document, if written. */
  readonly snapshotBytes: number;
}

/** A world that notes what each call of its store costs. */
function metered(options: WorldOptions) {
  const world = new World(options);
  const commits: Cost[] = [];
  const calls: string[] = [];
  const store = intercept(world.store, ({ method, args }, proceed) => {
    calls.push(method);
    if (method === 'commit') commits.push(costOf(args[0] as JournalCommit));
    return proceed();
  });
  return { world, deps: { ...world.deps, store }, commits, calls };
}

function costOf({ events, checkpoints, steps, snapshot }: JournalCommit): Cost {
  return {
    writes: events.length + checkpoints.length + steps.length + (snapshot ? 1 : 0),
    bytes: Buffer.byteLength(JSON.stringify([events, checkpoints, steps])),
    steps: steps.map(({ id }) => id),
    snapshotBytes: snapshot ? Buffer.byteLength(JSON.stringify(encodeNewSnapshot(snapshot))) : 0,
  };
}

/** Collects all garbage at once. */
async function collectGarbage(): Promise<void> {
  setFlagsFromString('--expose-gc');
  const gc = runInNewContext('gc') as () => void;
  // An object read through a weak reference lives until its turn of the event loop is over.
  await new Promise<void>((resolve) => setImmediate(resolve));
  gc();
}

describe('a hundred steps that return at once, and their join', () => {
  const fan = defineWorkflow({
    type: 'fan',
    planVersion: 1,
    input: z.object({}),
    steps(step) {
      const arms = Array.from({ length: WIDTH }, (_, i) => step(`arm-${i}`, () => i));
      const needs: Record<string, Handle<number>> = Object.fromEntries(arms.map((arm, i) => [`n${i}`, arm]));
      return { sum: step('sum', { needs }, (context) => sumOf(context as Record<string, unknown>)) };
    },
  });
  const sumOf = (context: Record<string, unknown>) =>
    Object.entries(context).reduce(
      (sum, [name, value]) => (/^n\d+$/.test(name) ? sum + Number(value) : sum),
      0,
    );

  test('take at most ten commits', async () => {
    const { world, deps, commits } = metered({ workflows: [fan] });
    const runId = await world.start('fan');
    await world.run(undefined, deps);
    const state = await world.folded(runId);
    expect(state.result).toEqual({ text: `{"sum":${(WIDTH * (WIDTH - 1)) / 2}}` });
    // The start is a commit too.
    expect(commits.length + 1).toBeLessThanOrEqual(10);
    expect(Math.max(...commits.map(({ writes }) => writes))).toBeLessThanOrEqual(300);
  });
});

describe('a chain of five thousand steps', () => {
  const seen: WeakRef<object>[] = [];
  const alive: number[] = [];
  const CHECKED_AT = [1_000, LENGTH - 1];

  const chain = defineWorkflow({
    type: 'chain',
    planVersion: 1,
    input: z.object({}),
    steps(step) {
      let last: Handle<{ n: string }> = step('link-00000', () => ({ n: '00000' }));
      for (let i = 1; i < LENGTH; i += 1) {
        const name = String(i).padStart(5, '0');
        last = step(`link-${name}`, { needs: { last } }, async ({ last }) => {
          seen.push(new WeakRef(last));
          if (CHECKED_AT.includes(i)) {
            await collectGarbage();
            alive.push(seen.filter((ref) => ref.deref() !== undefined).length);
          }
          return { n: name };
        });
      }
      return { last };
    },
  });

  test('costs the same at its end as at its beginning, and keeps no output longer than needed', async () => {
    const { world, deps, commits, calls } = metered({ workflows: [chain] });
    const runId = await world.start('chain');
    await world.run(undefined, deps);
    expect((await world.folded(runId)).result).toEqual({ text: '{"last":{"n":"04999"}}' });

    const byStep = new Map(commits.flatMap((commit) => commit.steps.map((id) => [id, commit])));
    const early = byStep.get('link-00010') as Cost;
    const late = byStep.get('link-04998') as Cost;
    expect(early.steps).toHaveLength(1);
    expect(late.steps).toHaveLength(1);
    expect(late.writes).toBe(early.writes);
    // Sequence numbers of four digits instead of two, and nothing else.
    expect(late.bytes - early.bytes).toBeLessThan(20);
    // One commit a step, one for the claim, and nothing that was read on the way.
    expect(commits.length).toBeLessThanOrEqual(LENGTH + 1);
    expect(calls.length - commits.length).toBeLessThan(5);

    expect(alive).toHaveLength(CHECKED_AT.length);
    for (const count of alive) expect(count).toBeLessThanOrEqual(5);
  });
});

describe('a map of a thousand items', () => {
  const total = (outputs: readonly string[]) => outputs.reduce((sum, output) => sum + output.length, 0);
  const mapping = (items: number) =>
    defineWorkflow({
      type: 'mapping',
      planVersion: 1,
      input: z.object({}),
      steps(step) {
        const over = () => Array.from({ length: items }, (_, i) => i);
        const retry = { maxAttempts: 2, initialMs: 0 };
        const all = step.map('all', { over, retry, concurrency: 1_000 }, ({ item, attempt }) => {
          if (attempt === 1 && item % 3 === 0) throw new Error('not at once');
          return String(item).padStart(ITEM_BYTES, '-');
        });
        return { sum: step('sum', { needs: { all } }, ({ all }) => total(all)) };
      },
    });

  test('keeps every commit, the run document and its result within the limits', async () => {
    const { world, deps, commits } = metered({ workflows: [mapping(ITEMS)] });
    const runId = await world.start('mapping');
    await world.run(undefined, deps);
    const state = assertStored(world.db, runId);
    expect(state.result).toEqual({ text: `{"sum":${ITEMS * ITEM_BYTES}}` });
    // The snapshot is one more.
    expect(Math.max(...commits.map(({ writes }) => writes))).toBeLessThanOrEqual(MAX_COMMIT_WRITES + 1);
    expect(Math.max(...commits.map(({ bytes }) => bytes))).toBeLessThanOrEqual(MAX_COMMIT_BYTES);
    expect(Math.max(...commits.map(({ snapshotBytes }) => snapshotBytes))).toBeGreaterThan(1_000);
    expect(Math.max(...commits.map(({ snapshotBytes }) => snapshotBytes))).toBeLessThan(MIB);
    // Items that end together share commits: three documents for each end, one third of them begun twice.
    expect(commits.length).toBeLessThan(60);
  });

  test('cannot have one more: the error suggests child runs', async () => {
    const { world, deps } = metered({ workflows: [mapping(ITEMS + 1)] });
    const runId = await world.start('mapping');
    await world.run(undefined, deps);
    const { status, error } = await world.folded(runId);
    expect(status).toBe('failed');
    expect(error?.message).toMatch(/1001 items.*1000.*child runs/);
  });
});
