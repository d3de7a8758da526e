/**
 * One trial: a drawn flow runs until its code is replaced by that with one drawn change, either while the run rests or because a drawn
 * call kills the process. People and senders answer late. Whatever the change, the run ends: completed, or diverged, and then a resume with the code that wrote the
 * journal completes it.
 */
import { z } from 'zod';
import { OperationFailed } from '../../../packages/cairn/src/core/errors.ts';
import type { RunState } from '../../../packages/cairn/src/core/run/state.ts';
import { isOver, stepKey } from '../../../packages/cairn/src/core/run/state.ts';
import type { Flow } from '../../../packages/cairn/src/engine/define/flow/types.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { PRODUCTION_SETTINGS } from '../../../packages/cairn/src/engine/settings.ts';
import { startSuccessor } from '../../../packages/cairn/src/operations/successors/start-successor.ts';
import { Driver } from '../../../packages/cairn/src/testing/driver.ts';
import { ObservedBodies } from '../../../packages/cairn/src/testing/observed-bodies.ts';
import * as operations from '../../../packages/cairn/src/testing/operations.ts';
import { TestRun } from '../../../packages/cairn/src/testing/test-run.ts';
import {
  CrashPlan,
  type CrashPoint,
  type Moment,
} from '../../../packages/cairn/src/testing/world/crash-plan.ts';
import { assertStored } from '../../support/soundness.ts';
import { World } from '../../support/world.ts';
import { Draw } from '../data/draw.ts';
import { assertLively } from '../liveness.ts';

const KINDS = ['step', 'flaky', 'fails', 'sleep', 'event', 'late event', 'approval', 'child', 'map'] as const;
type Kind = (typeof KINDS)[number];

interface Operation {
  readonly name: string;
  readonly kind: Kind;
  /** Part of its request. */
  readonly value: number;
}
/** Operations that are called at once; `race`: the code continues with the first. */
interface Group {
  readonly race: boolean;
  readonly operations: readonly Operation[];
}
type Code = readonly Group[];

const NAMES = 'abcdefghijkl';
const CHANGES = ['remove', 'insert', 'rename', 'kind', 'value', 'reverse', 'split', 'cut'] as const;
/** Calls of a process among which one kills it. Most programs make fewer before they end. */
const CALLS = 90;
/** Moves of the driver. Most programs need some dozens. */
const MOVES = 300;
/** Moves after which somebody answers. */
const ANSWERED_AFTER = 6;

function drawn(draw: Draw): Code {
  let used = 0;
  const operation = (): Operation => {
    used += 1;
    return { name: NAMES.charAt(used - 1), kind: draw.pick(KINDS), value: draw.below(2) };
  };
  return Array.from({ length: draw.between(1, 4) }, () => ({
    race: draw.chance(0.2),
    operations: Array.from({ length: draw.between(1, 2) }, operation),
  }));
}

function changed(code: Code, draw: Draw): Code {
  const at = draw.below(code.length);
  const group = code[at] as Group;
  const which = draw.below(group.operations.length);
  const withOperation = (change: (one: Operation) => Operation) =>
    code.with(at, {
      ...group,
      operations: group.operations.map((one, i) => (i === which ? change(one) : one)),
    });
  switch (draw.pick(CHANGES)) {
    case 'remove':
      return code.toSpliced(at, 1);
    case 'insert':
      return code.toSpliced(at, 0, {
        race: false,
        operations: [{ name: 'new', kind: draw.pick(KINDS), value: 0 }],
      });
    case 'rename':
      return withOperation((one) => ({ ...one, name: 'renamed' }));
    case 'kind':
      return withOperation((one) => ({ ...one, kind: draw.pick(KINDS) }));
    case 'value':
      return withOperation((one) => ({ ...one, value: one.value + 5 }));
    case 'reverse':
      return code.toReversed();
    case 'split':
      return code.toSpliced(at, 1, ...group.operations.map((one) => ({ race: false, operations: [one] })));
    case 'cut':
      return code.slice(0, at);
  }
}

type AnyFlow = Flow<Record<never, never>>;

async function play(flow: AnyFlow, code: Code): Promise<void> {
  for (const { race, operations: group } of code) {
    const calls = group.map((operation) =>
      call(flow, operation).catch((error: unknown) => {
        if (!(error instanceof OperationFailed)) throw error;
      }),
    );
    await (race ? Promise.race(calls) : Promise.all(calls));
  }
}

function call(flow: AnyFlow, { name, kind, value }: Operation): Promise<unknown> {
  const fail = () => {
    throw new Error('no');
  };
  switch (kind) {
    case 'step':
      return flow.step(name, () => value, { input: value });
    case 'flaky':
      return flow.step(name, ({ attempt }) => (attempt === 1 ? fail() : value), {
        input: value,
        retry: { initialMs: 120_000 },
      });
    case 'fails':
      return flow.step(name, fail, { retry: { maxAttempts: 1 } });
    case 'sleep':
      return flow.sleep(name, '5m');
    case 'event':
      return flow.event(name, { key: `k${value}` });
    case 'late event':
      return flow.event(name, { key: `k${value}`, timeout: '7m' });
    case 'approval':
      return flow.approval(name, `Is ${value} right?`);
    case 'child':
      return flow.child(name, child, { value });
    case 'map':
      return flow.map(name, [1, value], ({ item }) => item);
  }
}

const child = defineWorkflow({
  type: 'child',
  planVersion: 1,
  input: z.object({ value: z.number() }),
  steps: (step) => ({ slept: step.sleep('sleep', { for: '1m' }) }),
});

/** Kills a process at one call, and replaces the code. */
class Deployment extends CrashPlan {
  readonly #onDeath: () => void;
  constructor(point: CrashPoint | undefined, onDeath: () => void) {
    super(point);
    this.#onDeath = onDeath;
  }

  override note(label: string): Moment | undefined {
    const moment = super.note(label);
    if (moment) this.#onDeath();
    return moment;
  }
}

export type TrialEnd = 'completed' | 'diverged';

/** @throws Error with the two codes and the journal */
export async function changedCodeTrial(seed: number): Promise<TrialEnd> {
  const draw = new Draw(seed);
  const first = drawn(draw);
  const second = changed(first, draw);
  let code = first;
  const deploy = () => {
    code = second;
  };
  const point = draw.chance(0.5)
    ? { call: draw.below(CALLS), moment: draw.pick(['before', 'after'] as const) }
    : undefined;
  const plan = new Deployment(point, deploy);
  const deployedAt = point ? undefined : draw.between(1, 2 * ANSWERED_AFTER);
  const bodies = new ObservedBodies({ patienceMs: 0, onCrash: () => driver.crash(), plan });
  const flow = defineWorkflow({
    type: 'flow',
    planVersion: 1,
    input: z.object({}),
    steps: (step) => ({
      main: step.flow('main', {}, async (flow) => {
        await play(flow as AnyFlow, code);
        return null;
      }),
      beside: step.sleep('beside', { for: '3h' }),
    }),
  });
  const workflows = [flow, child].map((workflow) => bodies.observe(workflow));
  const world = new World({ workflows, settings: PRODUCTION_SETTINGS, seed });
  const driver: Driver = new Driver({ installation: world, bodies, seed, plan });
  const runId = await operations.start(world, { type: 'flow', input: {} });
  try {
    const stage = { world, driver, bodies, draw };
    const ended = await endOf(stage, runId, (move) => {
      if (move === deployedAt) deploy();
    });
    if (ended.status === 'completed') return 'completed';
    if (ended.error?.code !== 'FLOW_DIVERGED') throw new Error(`it failed: ${ended.error?.message}`);
    const began = world.db.runs.get(runId)?.events.some(({ type }) => type === 'step_succeeded');
    code = first;
    const resumed = await startSuccessor(
      { ...world.deps, records: world.records },
      {
        runId,
        tenantId: 'test',
        mode: 'resume',
        actor: 'c.test',
        key: undefined,
        requestHash: '',
        force: false,
      },
    );
    if (resumed.kind === 'in_flight') throw new Error('the resume is in progress');
    const last = await endOf(stage, resumed.runId, () => {});
    if (last.status !== 'completed' && began) throw new Error(`resumed, it failed: ${last.error?.message}`);
    return 'diverged';
  } catch (error) {
    const journal = new TestRun(runId, world, bodies).timeline();
    const codes = [first, second].map((one) => JSON.stringify(one)).join('\n');
    throw new Error(`seed ${seed}: ${String(error)}\n${codes}\n${journal.slice(0, 8_000)}`, { cause: error });
  }
}

interface Stage {
  readonly world: World;
  readonly driver: Driver;
  readonly bodies: ObservedBodies;
  readonly draw: Draw;
}

async function endOf(
  { world, driver, bodies, draw }: Stage,
  runId: string,
  onMove: (move: number) => void,
): Promise<RunState> {
  for (let move = 1; move <= MOVES; move += 1) {
    await driver.settle();
    for (const id of world.db.runs.keys()) assertStored(world.db, id, Number.POSITIVE_INFINITY);
    const state = world.stateOf(runId);
    if (isOver(state)) {
      for (const { events } of world.db.runs.values()) assertLively(events);
      return state;
    }
    onMove(move);
    const isAnswered = move % ANSWERED_AFTER === 0 || draw.chance(0.1);
    const isMoved = driver.moveOn(Number.POSITIVE_INFINITY);
    if (isAnswered || !isMoved) await answerOne(world, new TestRun(runId, world, bodies), draw);
  }
  throw new Error(`it has not ended after ${MOVES} moves`);
}

/** Answers one of the open questions and events. */
async function answerOne(world: World, run: TestRun, draw: Draw): Promise<void> {
  const { waits } = run.state();
  const open = waits.filter(({ kind }) => kind === 'approval' || kind === 'event');
  if (open.length === 0) return;
  const wait = draw.pick(open);
  if (wait.kind === 'event')
    await operations.signal(world, run, { event: wait.name, key: wait.key, data: 1 });
  else await operations.decide(world, run, { decision: 'approve', step: stepKey(wait.execution) });
}
