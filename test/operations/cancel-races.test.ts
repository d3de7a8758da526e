import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { CairnError, Fatal, RetryAt } from '../../packages/cairn/src/core/errors.ts';
import type { RunState } from '../../packages/cairn/src/core/run/state.ts';
import { defineWorkflow } from '../../packages/cairn/src/engine/define/workflow.ts';
import type { EngineDeps } from '../../packages/cairn/src/engine/deps.ts';
import { drive } from '../../packages/cairn/src/engine/drive/drive.ts';
import { type Cancellation, cancelRun } from '../../packages/cairn/src/operations/cancel-run.ts';
import { scan } from '../../packages/cairn/src/recovery/scan.ts';
import { intercept, never } from '../support/intercept.ts';
import { Shuffle } from '../support/shuffle.ts';
import { assertStored } from '../support/soundness.ts';
import { settle } from '../support/virtual-clock.ts';
import { seededRandomness, World } from '../support/world.ts';

const SEEDS = Array.from({ length: Number(process.env.RACES ?? 150) }, (_, i) => i + 1);
const LOSS_RATE = 0.08;
/** A cancel ends the run within this time, even if its worker died and the lease had to expire first. */
const PROMPT_MS = 3 * 60_000;
const NEXT_YEAR = Date.UTC(2027, 0, 1);

const workflow = defineWorkflow({
  type: 'two',
  planVersion: 1,
  input: z.object({ does: z.enum(['end', 'fail', 'rest', 'sleep']) }),
  steps(step) {
    const one = step('one', ({ input }) => {
      if (input.does === 'fail') throw new Fatal('no');
      if (input.does === 'rest') throw new RetryAt(NEXT_YEAR);
      return 1;
    });
    const slept = step.sleep('slept', {
      needs: { one },
      when: ({ input }) => input.does === 'sleep',
      until: () => NEXT_YEAR,
    });
    return { two: step('two', { needs: { one, slept }, ifSkipped: 'run' }, ({ one }) => one) };
  },
});

/** Work of each actor. An actor may also send the cancel of another. */
type Work = (deps: EngineDeps, runId: string) => Promise<unknown>;

const cancel =
  (reason: string): Work =>
  (deps, runId) =>
    cancelRun(deps, { runId, tenantId: 't1', actor: `c.${reason}`, reason, stopKind: 'user' });
const driving: Work = (deps, runId) => drive(deps, { runId });
const scanning: Work = (deps) => scan(deps);

interface Race {
  readonly works: readonly Work[];
  readonly does: 'end' | 'fail' | 'rest' | 'sleep';
  /** Number of commits after which a worker died before the race. Its lease has expired. */
  readonly deadDriveCommits?: number;
}

interface Finish {
  /** The state after the race, and after healthy processes have continued. */
  readonly left: RunState;
  readonly final: RunState;
  readonly types: readonly string[];
  readonly outcomes: readonly PromiseSettledResult<unknown>[];
}

async function raced({ works, does, deadDriveCommits }: Race, seed: number): Promise<Finish> {
  const world = new World({ workflows: [workflow], seed });
  const { clock, deps, db } = world;
  const runId = await world.start('two', { does });
  world.queue.take();
  if (deadDriveCommits !== undefined) await dieAfter(deadDriveCommits, deps, runId);
  clock.jump(deps.settings.leaseMs + 1);
  const shuffle = new Shuffle({ seed, clock, lossRate: LOSS_RATE });
  const outcomes = await shuffle.run(
    works.map((work, i) =>
      work({ ...deps, store: shuffle.gate(deps.store), random: seededRandomness(seed * 100 + i) }, runId),
    ),
  );
  const left = assertStored(db, runId, clock.now() + 60_000);
  await world.run();
  const final = assertStored(db, runId, clock.now() + 60_000);
  return { left, final, outcomes, types: await world.eventTypes(runId) };
}

async function dieAfter(commits: number, deps: EngineDeps, runId: string): Promise<void> {
  let applied = 0;
  const store = intercept(deps.store, ({ method }, proceed) => {
    if (method === 'commit' && applied >= commits) return never();
    if (method === 'commit') applied += 1;
    return proceed();
  });
  const clock = { now: () => deps.clock.now(), timer: () => () => {} };
  void drive({ ...deps, store, clock }, { runId });
  await settle();
}

/** Results of the cancels of a race: a cancellation, or the code of a refusal. */
function told({ outcomes }: Finish, { works }: Race): (Cancellation | string)[] {
  const answers: (Cancellation | string)[] = [];
  works.forEach((work, i) => {
    const outcome = outcomes[i];
    if (work === driving || work === scanning || !outcome) return;
    if (outcome.status === 'fulfilled') answers.push(outcome.value as Cancellation);
    else if (outcome.reason instanceof CairnError) answers.push(outcome.reason.code);
    else throw outcome.reason;
  });
  return answers;
}

/** True for every race: the responses to the cancels agree with the end of the run. */
function assertHonest(finish: Finish, race: Race): void {
  const { left, final, types } = finish;
  const count = (type: string) => types.filter((one) => one === type).length;
  expect(count('cancel_requested')).toBeLessThanOrEqual(1);
  expect(count('run_cancelled') + count('run_completed') + count('run_failed')).toBe(1);
  const { cancellation } = final;
  for (const answer of told(finish, race)) {
    if (answer === 'RUN_TERMINAL_STATE') expect(['completed', 'failed']).toContain(final.status);
    else if (typeof answer === 'string') expect(answer).toBe('UNAVAILABLE');
    else {
      expect(final.status).toBe('cancelled');
      expect((final.completedAt ?? 0) - answer.requestedAt).toBeLessThan(PROMPT_MS);
      if (answer.status === 'cancelled') expect(left.status).toBe('cancelled');
      expect(answer).toMatchObject({
        requestedAt: cancellation?.requestedAt,
        reason: cancellation?.reason,
      });
    }
  }
  if (final.status === 'cancelled') expect(cancellation?.actor).toBe(`c.${cancellation?.reason}`);
}

const RACES: readonly (Race & { readonly claim: string; readonly ends: readonly string[] })[] = [
  {
    claim: 'a cancel and a claim: whoever is first, the run is cancelled or had completed by then',
    works: [driving, cancel('one')],
    does: 'end',
    ends: ['cancelled', 'completed'],
  },
  {
    claim: 'a cancel and the failure of the run: one of them ends it',
    works: [driving, cancel('one')],
    does: 'fail',
    ends: ['cancelled', 'failed'],
  },
  {
    claim: 'a cancel and the release of a run that rests for long: it does not rest before it ends',
    works: [driving, cancel('one')],
    does: 'rest',
    // A cancel without a response would be sent again. Here nobody does, and the step uses up its attempts.
    ends: ['cancelled', 'failed'],
  },
  {
    claim: 'a cancel and a run that falls asleep for long: it does not sleep before it ends',
    works: [driving, cancel('one')],
    does: 'sleep',
    ends: ['cancelled', 'completed'],
  },
  {
    claim: 'two cancels: one is written, both are told the same',
    works: [cancel('one'), cancel('two')],
    does: 'end',
    ends: ['cancelled'],
  },
  {
    claim: 'two cancels of a driven run',
    works: [driving, cancel('one'), cancel('two')],
    does: 'end',
    ends: ['cancelled', 'completed'],
  },
  {
    claim: 'a cancel and the recovery of a run whose drive died early',
    works: [scanning, driving, cancel('one')],
    does: 'end',
    deadDriveCommits: 1,
    ends: ['cancelled', 'completed'],
  },
  {
    claim: 'two cancels and two recoveries of a run whose drive died late',
    works: [scanning, cancel('one'), scanning, cancel('two')],
    does: 'end',
    deadDriveCommits: 2,
    ends: ['cancelled'],
  },
];

describe('racing cancels, with answers lost:', () => {
  test.each(RACES)('$claim', async ({ claim: _, ends, ...race }) => {
    const seen = new Set<string>();
    for (const seed of SEEDS) {
      const finish = await raced(race, seed);
      assertHonest(finish, race);
      seen.add(finish.final.status);
    }
    // A race that always ends the same way proves nothing.
    expect([...seen].sort()).toEqual([...ends].sort());
  });
});
