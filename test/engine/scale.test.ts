import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import type { Handle } from '../../functions/src/engine/define/types.ts';
import { defineWorkflow } from '../../functions/src/engine/define/workflow.ts';
import type { JournalCommit } from '../../functions/src/ports/run-store.ts';
import { intercept } from '../support/intercept.ts';
import { World, type WorldOptions } from '../support/world.ts';

const WIDTH = 100;
const LENGTH = 5_000;

/** What one commit cost. */
interface Cost {
  readonly writes: number;
  readonly bytes: number;
  readonly steps: readonly string[];
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
  };
}

/** Frees all that nobody holds, at once. */
async function collectGarbage(): Promise<void> {
  setFlagsFromString('--expose-gc');
  const gc = runInNewContext('gc') as () => void;
  // What a weak reference gave out lives until its turn of the event loop is over.
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

  test('take ten commits at the most', async () => {
    const { world, deps, commits } = metered({ workflows: [fan] });
    const runId = await world.start('fan');
    await world.run(undefined, deps);
    const state = await world.folded(runId);
    expect(state.result).toEqual({ text: `{"sum":${(WIDTH * (WIDTH - 1)) / 2}}` });
    // The start is one, too.
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

  test('costs as much at its end as at its beginning, and holds no output longer than it is needed', async () => {
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
