import { describe, expect, test } from '@jest/globals';
import type { LoadedRun } from '../../packages/cairn/src/ports/run-store.ts';
import { intercept } from '../support/intercept.ts';
import type { Sabotage, SharedDeps } from './chaos/worker.ts';
import type { Repertoire } from './data/generate.ts';
import { MUTATIONS } from './redeploy/mutate.ts';
import { trial } from './trial.ts';

const REPERTOIRE: Repertoire = {
  kinds: { step: 8, map: 2, sleep: 1, approval: 2, event: 2, child: 1 },
  maxSteps: 10,
  extras: true,
};
const FROM = 20_001;
const { SEED: only, SEEDS: more } = process.env;
/** Takes a few seconds of one core. */
const COUNT = Number(more ?? 60);
const PATIENCE_MS = 240_000;

/**
 * Regression: an event that the other definition refused, of a run that continued for another reason before a scan found it.
 */
const OVERLOOKED_EVENT = 20_505;
const seeds =
  only === undefined
    ? [...Array.from({ length: COUNT }, (_, i) => FROM + i), OVERLOOKED_EVENT]
    : [Number(only)];

describe('programs whose definitions are replaced in between, and restored', () => {
  test(
    `end as the reference predicts, ${seeds.length} of them`,
    async () => {
      const met = new Set<string>();
      const ends: string[] = [];
      for (const seed of seeds) {
        const outcome = await trial({ seed, repertoire: REPERTOIRE, redeploys: true });
        ends.push(...outcome.ends);
        for (const what of outcome.redeploys) met.add(what);
      }
      if (only !== undefined) return;
      expect(ends.filter((end) => end === 'completed').length).toBeGreaterThan(seeds.length / 3);
      const wanted = [
        ...MUTATIONS.map((by) => `changed by ${by}`),
        'blocked for PLAN_CHANGED',
        'blocked for PLAN_VERSION_UNAVAILABLE',
      ];
      expect(wanted.filter((what) => !met.has(what))).toEqual([]);
      expect([...met].some((what) => what.startsWith('beside'))).toBe(true);
    },
    PATIENCE_MS,
  );

  test("and processes that continue with a definition other than the run's are detected", async () => {
    const sabotage: Sabotage = (deps) => ({
      ...deps,
      store: intercept(deps.store, async ({ method }, proceed) => {
        const loaded = (await proceed()) as LoadedRun | undefined;
        if (method !== 'load' || !loaded) return loaded;
        const { planFingerprint: _, ...state } = loaded.state;
        return { ...loaded, state };
      }),
      plans: {
        compare: async () => 'same',
        meet: async () => undefined,
      } satisfies Pick<SharedDeps['plans'], 'compare' | 'meet'> as unknown as SharedDeps['plans'],
    });
    const noticed = await firstProblem(sabotage);
    expect(noticed).toMatch(/by a definition that it was not started on/);
  });
});

async function firstProblem(sabotage: Sabotage): Promise<string> {
  for (let seed = FROM; seed < FROM + 60; seed += 1) {
    try {
      await trial({ seed, repertoire: REPERTOIRE, redeploys: true, sabotage });
    } catch (error) {
      const message = String(error);
      if (message.includes('not started on')) return message;
    }
  }
  return 'nothing';
}
