import { describe, expect, test } from '@jest/globals';
import type { EngineDeps } from '../../../packages/cairn/src/engine/deps.ts';
import type {
  CommitResult,
  JournalCommit,
  SnapshotTouch,
} from '../../../packages/cairn/src/ports/run-store.ts';
import { explore } from '../../support/explorer.ts';
import { intercept } from '../../support/intercept.ts';
import { type Race, raceOf } from '../../support/race/race.ts';
import { EVERY_ORDER } from '../../support/race/size.ts';

/** Time limit for a busy machine. An idle core takes at most five seconds each. */
const PATIENCE_MS = 480_000;

/** Fewer schedules than `atLeast` mean that something is no longer explored. */
type Shown = Race & { readonly claim: string; readonly atLeast: bigint };

/** `everyday`: replaces these members otherwise, because the whole race takes seconds. */
const RACES: readonly (Shown & { readonly everyday?: Partial<Shown> })[] = [
  {
    claim: 'two drives and a scan deliver every task they leave, with a crash and a lost answer',
    actors: ['drive', 'drive', 'scan'],
    crashes: 1,
    lostAnswers: 1,
    atLeast: 10_000n,
    everyday: { actors: ['drive', 'scan'], atLeast: 200n },
  },
  {
    claim: 'a cancel that was acknowledged cancels, with a crash and a lost answer',
    actors: ['drive', 'scan', 'cancel'],
    crashes: 1,
    lostAnswers: 1,
    atLeast: 5_000n,
    everyday: { lostAnswers: 0, atLeast: 500n },
  },
  {
    claim: 'drives and a scan race to recover what a dead drive held',
    actors: ['drive', 'drive', 'scan'],
    deadDriveCommits: 1,
    loseTasks: true,
    atLeast: 100_000n,
    everyday: { actors: ['drive', 'scan'], crashes: 1, atLeast: 300n },
  },
  {
    claim: 'two drives recover a run whose snapshot lags, with a crash',
    actors: ['drive', 'drive'],
    deadDriveCommits: 2,
    crashes: 1,
    lostAnswers: 1,
    loseTasks: true,
    atLeast: 5_000n,
    everyday: { crashes: 0, lostAnswers: 0, atLeast: 50n },
  },
  {
    claim: 'a scan and a drive recover it too while it is cancelled, with a crash',
    actors: ['drive', 'scan', 'cancel'],
    deadDriveCommits: 2,
    crashes: 1,
    atLeast: 20_000n,
    everyday: { actors: ['scan', 'cancel'], atLeast: 30n },
  },
  {
    claim: 'a drive that was suspended past its lease stops, also if an answer was lost',
    actors: ['drive', 'drive'],
    pauses: 1,
    lostAnswers: 1,
    atLeast: 12_000n,
    everyday: { lostAnswers: 0, atLeast: 1_200n },
  },
  {
    claim: 'a task delivered again while its first dispatch lives takes the run over, with an accident',
    actors: ['first', 'redelivery', 'scan'],
    crashes: 1,
    loseTasks: true,
    atLeast: 40_000n,
    everyday: { actors: ['first', 'redelivery'], crashes: 0, lostAnswers: 1, atLeast: 1_000n },
  },
  {
    claim: 'a cancel that was acknowledged cancels while the task is delivered again',
    actors: ['first', 'redelivery', 'cancel'],
    atLeast: 80_000n,
  },
];

describe('every order of calls ends the run once', () => {
  test.each(RACES)(
    '$claim',
    async ({ claim: _, everyday, ...full }) => {
      const { atLeast, ...race } = { ...full, ...(EVERY_ORDER ? {} : everyday) };
      const { schedules } = await explore(raceOf(race));
      expect(schedules).toBeGreaterThan(atLeast);
    },
    PATIENCE_MS,
  );
});

/** Checks the exploration itself, which must find each of these defects. */
describe('the exploration detects', () => {
  test('a refused commit that is treated as accepted', async () => {
    const sabotage = (deps: EngineDeps): EngineDeps => ({
      ...deps,
      store: intercept(deps.store, async ({ method }, proceed) => {
        const answer = await proceed();
        const refused = method === 'commit' && (answer as CommitResult).kind === 'exists';
        return refused ? { kind: 'committed' } : answer;
      }),
    });
    await expect(explore(raceOf({ actors: ['drive', 'drive'], sabotage }))).rejects.toThrow(
      /ran \d times|after its end/,
    );
  });

  test('a zombie whose refused commits are treated as accepted', async () => {
    const sabotage = (deps: EngineDeps): EngineDeps => ({
      ...deps,
      store: intercept(deps.store, async ({ method, args }, proceed) => {
        const answer = await proceed();
        const { events } = (method === 'commit' ? args[0] : { events: [] }) as JournalCommit;
        const isStep = events.some(({ type }) => type === 'step_succeeded');
        return isStep && (answer as CommitResult).kind === 'exists' ? { kind: 'committed' } : answer;
      }),
    });
    const race: Race = { actors: ['first', 'redelivery'], sabotage };
    await expect(explore(raceOf(race))).rejects.toThrow(/ran \d times|after its end|cannot become|J\d/);
  });

  test('a snapshot that overwrites a newer one', async () => {
    const sabotage = (deps: EngineDeps): EngineDeps => ({
      ...deps,
      store: intercept(deps.store, async ({ method, args }, proceed) => {
        if (method !== 'touch') return proceed();
        const [touch] = args as [SnapshotTouch];
        const seen = (await deps.store.load(touch.runId))?.snapshotVersion ?? touch.seen;
        return deps.store.touch({ ...touch, seen });
      }),
    });
    const race: Race = { actors: ['drive', 'drive'], pauses: 1, sabotage };
    await expect(explore(raceOf(race))).rejects.toThrow(/J4|J5|J10/);
  });

  test('a scan that defers a run too long before it acts', async () => {
    const sabotage = (deps: EngineDeps): EngineDeps => ({
      ...deps,
      store: intercept(deps.store, ({ method, args }, proceed) => {
        const [touch] = args as [SnapshotTouch];
        if (method !== 'touch' || touch.wakeAt === undefined) return proceed();
        return deps.store.touch({ ...touch, wakeAt: touch.wakeAt + 7 * 24 * 3_600_000 });
      }),
    });
    const race: Race = { actors: ['scan'], crashes: 1, loseTasks: true, sabotage };
    await expect(explore(raceOf(race))).rejects.toThrow('stranded');
  });
});
