import { describe, expect, test } from '@jest/globals';
import { intercept } from '../../support/intercept.ts';
import type { Sabotage } from '../chaos/worker.ts';
import { ASKED_FIRST, trial } from './trial.ts';

/** An idle core needs two hundredths of a second for each; SEEDS sets another number. */
const SEEDS = 40;
/** Number of seeds of which one must detect a sabotage. */
const NOTICED_WITHIN = 100;
const FROM = 1;
const PATIENCE_MS = 240_000;

describe('programs whose bodies act outside', () => {
  const { SEED: only, SEEDS: more } = process.env;
  const count = only === undefined ? Number(more ?? SEEDS) : 1;
  const from = only === undefined ? FROM : Number(only);

  test(
    `repeat and omit no action, in ${count} lineages`,
    async () => {
      const ends: string[] = [];
      const met = new Set<string>();
      let applied = 0;
      for (let seed = from; seed < from + count; seed += 1) {
        const outcome = await trial({ seed });
        ends.push(...outcome.ends);
        applied += outcome.applied;
        for (const type of outcome.met) met.add(type);
      }
      if (only !== undefined) return;
      expect(applied).toBeGreaterThan(3 * count);
      expect(ends.filter((end) => end === 'completed').length).toBeGreaterThan(ends.length / 2);
      expect(MEET.filter((type) => !met.has(type))).toEqual([]);
    },
    PATIENCE_MS * Math.max(1, count / 1_000),
  );
});

/** Seeds without these events prove nothing. */
const MEET = [
  'settled recorded',
  'settled failed',
  'settled in_doubt',
  'settled blocked',
  ASKED_FIRST,
  'settled reused',
  'orphan_detected',
  'replay_started',
  'run_superseded',
  'step_compensated',
  'compensation_failed',
  'run_cancelled',
];

/** Message of the first lineage, from this seed on, that detects the sabotage. */
async function noticed(sabotage: Sabotage, first = 1): Promise<string> {
  for (let seed = first; seed < first + NOTICED_WITHIN; seed += 1) {
    try {
      await trial({ seed, sabotage });
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  }
  return 'nothing';
}

describe('such a trial detects', () => {
  test('rows that are lost', async () => {
    const blind: Sabotage = (deps) => ({
      ...deps,
      effects: intercept(deps.effects, ({ method }, proceed) =>
        method === 'rowsOf' ? Promise.resolve([]) : proceed(),
      ),
    });
    // The lineage of seed 8 detects it too, but by running without end, which takes seconds.
    expect(await noticed(blind, 9)).not.toBe('nothing');
  });

  test('answers of a different action, and prints how to reproduce it', async () => {
    const sabotage: Sabotage = (deps) => ({
      ...deps,
      effects: intercept(deps.effects, ({ method, args }, proceed) => {
        if (method !== 'change' || (args[2] as { status?: string }).status !== 'recorded') return proceed();
        return deps.effects.change(
          args[0] as string,
          args[1] as never,
          {
            ...(args[2] as object),
            resultText: '{"serial":1}',
          } as never,
        );
      }),
    });
    expect(await noticed(sabotage)).toMatch(/SEED=\d+/);
  });

  test('a lookup that denies an action that took place', async () => {
    const sabotage: Sabotage = (deps) => ({ ...deps, bindings: blindfolded(deps.bindings) });
    expect(await noticed(sabotage)).toMatch(/was done twice under one key|was called \d+ times/);
  });
});

function blindfolded(bindings: Parameters<Sabotage>[0]['bindings']) {
  return Object.create(bindings, {
    of: {
      value: (capability: Parameters<typeof bindings.of>[0]) => {
        const binding = bindings.of(capability);
        return binding.lookup ? { ...binding, lookup: async () => ({ found: false }) } : binding;
      },
    },
    has: { value: (id: string) => bindings.has(id) },
    byId: { value: (id: string) => bindings.byId(id) },
    canFindOut: { value: (id: string) => bindings.canFindOut(id) },
  }) as typeof bindings;
}
