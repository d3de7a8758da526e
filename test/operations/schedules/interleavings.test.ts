import { describe, expect, test } from '@jest/globals';
import { canonicalTextOf } from '../../../packages/cairn/src/core/encoding/json.ts';
import { armed, disarmed } from '../../../packages/cairn/src/core/schedule/due.ts';
import {
  type CatchUp,
  type Schedule,
  slotRunId,
} from '../../../packages/cairn/src/core/schedule/schedule.ts';
import { backfillSchedule } from '../../../packages/cairn/src/operations/schedules/backfill-schedule.ts';
import { changeSchedule } from '../../../packages/cairn/src/operations/schedules/change-schedule.ts';
import { fireSchedule } from '../../../packages/cairn/src/operations/schedules/fire-schedule.ts';
import { OutcomeUnknown } from '../../../packages/cairn/src/ports/store-errors.ts';
import { intercept } from '../../../packages/cairn/src/testing/world/intercept.ts';
import { seededRandomness } from '../../../packages/cairn/src/testing/world/seeded-randomness.ts';
import { type TickDeps, tick } from '../../../packages/cairn/src/triggers/schedule/tick.ts';
import { type Choice, type Execution, explore } from '../../support/explorer.ts';
import { MINUTE, Scene, stored, T0, TENANT } from './scene.ts';

interface Pending {
  readonly label: string;
  /** Performs the call. The response reaches the caller, or is lost. */
  answer(isLost: boolean): void;
}

/** An actor on a schedule. Each of its calls of a port waits until it is chosen. */
class Actor {
  readonly history: string[] = [];
  /** Concurrent operations of a backfill. */
  readonly pending: Pending[] = [];
  state: 'acting' | 'done' | 'dead' = 'acting';
  readonly #name: string;

  constructor(name: string, scene: Scene, act: (deps: TickDeps) => Promise<unknown>, seed: number) {
    this.#name = name;
    const { schedules, store } = scene.deps;
    const around = <T extends object>(port: T): T =>
      intercept(port, ({ method }, proceed) => this.#ask(method, proceed));
    act({
      ...scene.deps,
      schedules: around(schedules),
      store: around(store),
      random: seededRandomness(seed),
      // Pauses before a repeated call take no time here, because the order is chosen by the test.
      clock: {
        now: () => scene.world.clock.now(),
        timer(_, fire) {
          queueMicrotask(fire);
          return () => {};
        },
      },
    }).then(
      () => {
        this.state = 'done';
      },
      (error: unknown) => {
        this.history.push(`thrown ${String(error)}`);
        this.state = 'done';
      },
    );
  }

  #ask(what: string, proceed: () => Promise<unknown>): Promise<unknown> {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const pending: Pending = {
      label: `${this.#name} ${what}`,
      answer: (isLost) => {
        this.pending.splice(this.pending.indexOf(pending), 1);
        void proceed().then((answer) => {
          this.history.push(`${what} ${isLost ? 'lost' : JSON.stringify(answer)}`);
          if (isLost) reject(new OutcomeUnknown(what, new Error('lost')));
          else resolve(answer);
        }, reject);
      },
    };
    this.pending.push(pending);
    return promise;
  }
}

interface Race {
  readonly claim: string;
  readonly catchUp: CatchUp;
  readonly acts: readonly ((deps: TickDeps) => Promise<unknown>)[];
  /** Slots, in minutes, that have exactly one run in the end. No others have one except those of `may`. */
  readonly slots: readonly number[];
  readonly may?: readonly number[];
  /** Number of crashes and lost responses. */
  readonly deaths?: number;
  readonly losses?: number;
  /** A smaller number means that some orders are no longer explored. */
  readonly states: number;
}

const NOW = 16;
const ref = { id: 'sch_1', tenantId: TENANT };
const fire = (deps: TickDeps) => fireSchedule(deps, 'sch_1');
const pause = (deps: TickDeps) =>
  changeSchedule(deps, ref, (current) =>
    current.state === 'paused'
      ? undefined
      : disarmed(current, { state: 'paused', pause: { since: T0, by: 'c.ops' } }),
  );
const backfill = (deps: TickDeps) =>
  backfillSchedule(deps, { ...ref, from: T0 + 10 * MINUTE, until: T0 + 15 * MINUTE, isDryRun: false });

const RACES: readonly Race[] = [
  {
    claim: 'two ticks, one of which may die, catch up all',
    catchUp: 'all',
    acts: [fire, fire],
    deaths: 1,
    slots: [10, 15],
    states: 250,
  },
  {
    claim: 'two ticks catch up the latest, with an answer lost',
    catchUp: 'latest',
    acts: [fire, fire],
    losses: 1,
    slots: [15],
    states: 250,
  },
  {
    claim: 'a tick, which may die, and a backfill',
    catchUp: 'all',
    acts: [fire, backfill],
    deaths: 1,
    slots: [10, 15],
    states: 250,
  },
  {
    // Either may be first, but nothing runs twice.
    claim: 'a tick and a pause, with an answer lost and a death',
    catchUp: 'latest',
    acts: [fire, pause],
    deaths: 1,
    losses: 1,
    slots: [],
    may: [15],
    states: 250,
  },
];

class RaceExecution implements Execution {
  readonly #scene: Scene;
  readonly #race: Race;
  readonly #actors: readonly Actor[];
  #deaths: number;
  #losses: number;

  constructor(scene: Scene, race: Race) {
    this.#scene = scene;
    this.#race = race;
    this.#deaths = race.deaths ?? 0;
    this.#losses = race.losses ?? 0;
    this.#actors = race.acts.map((act, i) => new Actor(`${i}`, scene, act, i + 7));
  }

  choices(): readonly Choice[] {
    return this.#actors.flatMap((actor) => {
      if (actor.state === 'dead') return [];
      const answered = actor.pending.flatMap((pending) => this.#answers(pending));
      const dies = () => {
        this.#deaths -= 1;
        actor.state = 'dead';
      };
      const [next] = actor.pending;
      return next && this.#deaths > 0
        ? [...answered, { label: `${next.label} (dies before)`, take: dies }]
        : answered;
    });
  }

  #answers(pending: Pending): Choice[] {
    const { label } = pending;
    const loses = () => {
      this.#losses -= 1;
      pending.answer(true);
    };
    const answered = { label, take: () => pending.answer(false) };
    return this.#losses > 0 ? [answered, { label: `${label} (answer lost)`, take: loses }] : [answered];
  }

  key(): string {
    const { runs, schedules, records } = this.#scene.world.db;
    return JSON.stringify([
      this.#actors.map(({ history, state }) => [history, state]),
      [this.#deaths, this.#losses],
      [...schedules.values()],
      [...runs].map(([id, { version }]) => [id, version]),
      [...records].map(([id, { version }]) => [id, version]),
    ]);
  }

  check(): void {
    const { runs } = this.#scene.world.db;
    const { slots, may = [] } = this.#race;
    const allowed = new Set([...slots, ...may].map((slot) => slotRunId('sch_1', T0 + slot * MINUTE)));
    expect([...runs.keys()].filter((id) => !allowed.has(id))).toEqual([]);
  }

  /** After a crash of an actor the next tick follows. */
  async finish(): Promise<void> {
    for (const { history } of this.#actors)
      expect(history.filter((line) => line.startsWith('thrown'))).toEqual([]);
    await tick(this.#scene.deps);
    const { slots, may = [] } = this.#race;
    const found = this.#scene.slots();
    expect(found.filter((slot) => !may.includes(slot))).toEqual(slots);
    expect(new Set(found).size).toBe(found.length);
    const after = await this.#scene.schedule();
    if (after.state === 'active') expectSettled(after);
  }
}

function expectSettled(schedule: Schedule): void {
  const settled = armed(schedule, T0 + 15 * MINUTE);
  expect(canonicalTextOf({ at: [schedule.settledUntil, schedule.nextAt] })).toBe(
    canonicalTextOf({ at: [settled.settledUntil, settled.nextAt] }),
  );
}

describe('in every order, each slot has one run where', () => {
  test.each(RACES)('$claim', async (race) => {
    const { states } = await explore(async () => {
      const scene = new Scene();
      await scene.deps.schedules.create(stored({ catchUp: race.catchUp, settledUntil: T0 + 5 * MINUTE }));
      // Both slots were missed.
      scene.goTo(NOW + 2);
      return new RaceExecution(scene, race);
    });
    expect(states).toBeGreaterThan(race.states);
  });
});
