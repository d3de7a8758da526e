/**
 * Runs that nothing can continue: their appends must end, or become as rare as their back-off requires, and each run must
 * report why it is blocked.
 */
import { expect, test } from '@jest/globals';
import { runView } from '../../../packages/cairn/src/api/views/run.ts';
import { isOver, type RunState } from '../../../packages/cairn/src/core/run/state.ts';
import type { SnapshotTouch } from '../../../packages/cairn/src/ports/run-store.ts';
import { type ExplainedRun, explainRun } from '../../../packages/client/src/explain/explain-run.ts';
import { intercept } from '../../support/intercept.ts';
import { assertStored } from '../../support/soundness.ts';
import { World } from '../../support/world.ts';
import { Draw } from '../data/draw.ts';
import { assertLively } from '../liveness.ts';
import { drawStandstill, KINDS, POLL_MS, type Standstill, stand } from './generate.ts';

/** An idle core takes a second for all; `SEEDS=500` draws more, `SEED=7` only that one. */
const SEEDS = 12;
const FROM = 70_001;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Time until all possible work is done, and every back-off has reached its cap. */
const SETTLED_MS = 3 * DAY_MS;
const LOOK_MS = 10 * DAY_MS;
/** A claim, the result of the attempt, and a release, with a reserve for a suspension and its end. */
const EVENTS_A_LOOK = 6;

interface Outcome {
  readonly plan: Standstill;
  readonly ended: boolean;
  readonly events: number;
  /** Events appended in {@link LOOK_MS} after that time. */
  readonly later: number;
}

/** Maximum number of events that a run may append in {@link LOOK_MS}: only places that are retried by the clock append. */
function most({ places, unasked }: Standstill): number {
  const hasPolicy = unasked || places.some(({ kind }) => kind === 'step policy');
  const polls = unasked ? 0 : places.filter(({ kind }) => kind === 'poll').length;
  return EVENTS_A_LOOK * ((hasPolicy ? LOOK_MS / HOUR_MS : 0) + polls * (LOOK_MS / POLL_MS));
}

/** @throws Error if the run does not report why it is blocked */
function assertExplained(state: RunState, { unasked }: Standstill): void {
  const view = runView({ state, metadata: {} }, { input: { text: '{}' }, result: undefined }, 'cairn');
  const { text, moves } = explainRun(view as unknown as ExplainedRun);
  const isTold = unasked ? text.includes('the line went dead') : !text.startsWith('Between steps');
  if (!isTold || moves.length === 0) throw new Error(`stands, and says only: ${text}`);
}

async function standstill(seed: number): Promise<Outcome> {
  const plan = drawStandstill(new Draw(seed));
  const { workflow, outside } = stand(plan, () => world.clock.now());
  const world: World = new World({ workflows: [workflow], bindings: [outside.binding], seed });
  const runId = await world.start('standing');
  // The scan defers the next check of a run that nothing changes.
  let movedTo = 0;
  const store = intercept(world.store, ({ method, args }, proceed) => {
    const { wakeAt } = method === 'touch' ? (args[0] as SnapshotTouch) : {};
    movedTo = Math.max(movedTo, wakeAt ?? 0);
    return proceed();
  });
  const deps = { ...world.deps, store };
  const events = () => world.db.runs.get(runId)?.events ?? [];
  const passed = async (ms: number) => {
    const until = world.clock.now() + ms;
    await world.run(() => world.clock.now() >= until, deps);
  };
  await passed(SETTLED_MS);
  const before = events().length;
  await passed(LOOK_MS);
  const state = assertStored(world.db, runId, movedTo);
  const later = events().length - before;
  if (!isOver(state)) assertExplained(state, plan);
  if (later > most(plan)) throw new Error(`spins: ${later} events where ${most(plan)} are the most`);
  if (!plan.places.some(({ kind }) => kind === 'poll' || kind === 'step policy') && !plan.unasked)
    assertLively(events());
  return { plan, ended: isOver(state), events: events().length, later };
}

const { SEED: only, SEEDS: more } = process.env;
const seeds =
  only === undefined ? Array.from({ length: Number(more ?? SEEDS) }, (_, i) => FROM + i) : [Number(only)];

test(`runs that cannot progress append nothing, or as seldom as their back-off says, ${seeds.length} of them`, async () => {
  const outcomes: Outcome[] = [];
  for (const seed of seeds) {
    const one = await standstill(seed).catch((error: unknown) => {
      throw new Error(`SEED=${seed} ${JSON.stringify(drawStandstill(new Draw(seed)))}`, { cause: error });
    });
    outcomes.push(one);
  }
  if (only !== undefined) return;
  // Seeds without these places prove nothing.
  const met = new Set(outcomes.flatMap(({ plan }) => plan.places.map(({ kind }) => kind)));
  expect(KINDS.filter((kind) => !met.has(kind))).toEqual([]);
  expect(outcomes.some(({ ended, later }) => !ended && later === 0)).toBe(true);
  expect(outcomes.some(({ plan: { unasked } }) => unasked)).toBe(true);
  if (more !== undefined) {
    const largest = Math.max(...outcomes.map(({ later }) => later));
    const summary = { runs: outcomes.length, ended: outcomes.filter(({ ended }) => ended).length, largest };
    process.stdout.write(`${JSON.stringify(summary)}\n`);
  }
}, 1_800_000);
