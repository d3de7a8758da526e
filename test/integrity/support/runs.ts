/** Runs of every kind, as they stand somewhere on their way. Each is made once and copied by who damages it. */
import { z } from 'zod';
import { apiKey } from '../../../packages/cairn/src/core/encoding/idempotency-keys.ts';
import { Fatal } from '../../../packages/cairn/src/core/errors.ts';
import type { SuccessorMode } from '../../../packages/cairn/src/core/run/events.ts';
import type { Workflow } from '../../../packages/cairn/src/engine/define/steps.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { decideApproval } from '../../../packages/cairn/src/operations/approvals/decide-approval.ts';
import { cancelRun } from '../../../packages/cairn/src/operations/cancel-run.ts';
import { startSuccessor } from '../../../packages/cairn/src/operations/successors/start-successor.ts';
import { intercept } from '../../support/intercept.ts';
import { Outside } from '../../support/outside.ts';
import { driven as drivenOn } from '../../support/successors.ts';
import { settle } from '../../support/virtual-clock.ts';
import { World } from '../../support/world.ts';
import { Bench, TENANT } from './bench.ts';

/** Beyond what a summary holds, and what a snapshot, or a checkpoint, can carry. */
const LONG = 'long '.repeat(100);
const LARGE = 'x'.repeat(20_000);
const HUGE = 'y'.repeat(300_000);

const steps = defineWorkflow({
  type: 'steps',
  planVersion: 1,
  input: z.object({ text: z.string().optional() }),
  steps(step) {
    const short = step('short', () => 1);
    const long = step('long', { needs: { short } }, () => LONG);
    const twin = step('twin', { needs: { long } }, () => LONG);
    const huge = step('huge', { needs: { short } }, () => HUGE);
    const each = step.map('each', { needs: { short }, over: () => ['a', 'b'] }, ({ item }) => item);
    const last = step('last', { needs: { twin, huge, each } }, () => LARGE);
    return { long, last };
  },
});

/** Asks a person and waits for an event at once. */
const waits = defineWorkflow({
  type: 'waits',
  planVersion: 1,
  input: z.object({}),
  steps(step) {
    const first = step('first', () => 1);
    const gate = step.approval('gate', { needs: { first }, ask: () => ({ question: 'May it?' }) });
    const built = step.event('built', { needs: { first }, event: 'built', key: () => 'main' });
    return { gate, built };
  },
});

export interface Made {
  readonly bench: Bench;
}

/** Completed; with outputs of every size, two of which are the same, a large result, and an idempotency key. */
export async function completed(text?: string): Promise<Bench> {
  const world = worldOf([steps]);
  const key = apiKey('c.caller', 'one');
  const runId = await world.start('steps', text === undefined ? {} : { text }, { key });
  await world.run();
  return new Bench(world, runId);
}

/** Completed, with an input that no snapshot can carry. */
export function startedLarge(): Promise<Bench> {
  return completed(LARGE);
}

/** Goes on from one that was cancelled: takes over outputs of every size, and the large input, from that one. */
export async function resumed(): Promise<Bench> {
  const { world, runId } = await stopped();
  return new Bench(world, world.stateOf(runId).supersededBy ?? '');
}

/** Was cancelled, and gone on with by another. */
export async function superseded(): Promise<Bench> {
  const { world, runId } = await stopped();
  return new Bench(world, runId);
}

async function stopped(): Promise<{ readonly world: World; readonly runId: string }> {
  const night = defineWorkflow({
    type: 'night',
    planVersion: 1,
    input: z.object({ text: z.string() }),
    steps(step) {
      const long = step('long', () => LONG);
      const huge = step('huge', () => HUGE);
      const never = step('never', { when: () => false }, () => 1);
      return { end: step.sleep('night', { needs: { long, huge, never }, ifSkipped: 'run', for: '8h' }) };
    },
  });
  const world = worldOf([night]);
  const runId = await world.start('night', { text: HUGE });
  await world.run(() => world.stateOf(runId).waits.length > 0);
  await cancelRun(world.deps, { runId, tenantId: TENANT, stopKind: 'user' });
  await drivenOn(world, 'resume', runId);
  return { world, runId };
}

/** Suspended, with an open question and an open wait for an event, both told outside. */
export async function waiting(): Promise<Bench> {
  const world = worldOf([waits]);
  const runId = await world.start('waits');
  await world.run(() => world.db.runs.get(runId)?.snapshot.status === 'awaiting_approval');
  return new Bench(world, runId);
}

/** Ended by a person who halted it; what it owed is done. */
export async function halted(): Promise<Bench> {
  const { world, runId } = await waiting();
  const decision = { runId, tenantId: TENANT, stepId: 'gate', decision: 'halt', actor: 'u.anna' } as const;
  await decideApproval(world.deps, decision);
  await world.run();
  return new Bench(world, runId);
}

/**
 * Creates a successor of a run that failed after acting, with an input and outputs of every size.
 *
 * @param watch called with the successor after each of its commits
 */
export async function successor(
  mode: SuccessorMode,
  watch: (made: Bench) => Promise<void> = async () => {},
): Promise<{ readonly source: Bench; readonly made: Bench }> {
  const outside = new Outside();
  const { capability } = outside;
  let isMended = false;
  const failing = defineWorkflow({
    type: 'failing',
    planVersion: 1,
    input: z.object({ text: z.string() }),
    steps(step) {
      const sent = step('send', { uses: [capability] }, ({ perform }) =>
        perform(capability, { text: 'hello' }),
      );
      const huge = step('huge', { needs: { sent } }, () => HUGE);
      const odd = step('odd', { needs: { sent }, when: () => false }, () => 1);
      const broke = step('break', { needs: { huge, odd }, ifSkipped: 'run' }, () => {
        if (!isMended) throw new Fatal('it broke');
        return LONG;
      });
      return { broke };
    },
  });
  const world = new World({ workflows: [failing], bindings: [outside.binding] });
  const runId = await world.start('failing', { text: LARGE });
  await world.run();
  isMended = true;
  const request = {
    runId,
    tenantId: TENANT,
    mode,
    actor: 'u.anna',
    key: undefined,
    requestHash: 'h',
    force: false,
  };
  const deps = { ...world.deps, records: world.records };
  const made = await startSuccessor(deps, {
    ...request,
    ...(mode === 'fork' ? { input: { value: { text: LONG } } } : {}),
  });
  if (made.kind === 'in_flight') throw new Error('in flight');
  const store = intercept(world.store, async ({ method }, proceed) => {
    const answer = await proceed();
    if (method === 'commit') await watch(new Bench(world, made.runId));
    return answer;
  });
  await world.run(undefined, { ...world.deps, store });
  return { source: new Bench(world, runId), made: new Bench(world, made.runId) };
}

/** Completed, and has acted outside. */
export async function acted(): Promise<Bench> {
  const { world, runId } = await acting(new Outside());
  return new Bench(world, runId);
}

/** Asks a person what became of a call whose answer was lost. */
export async function doubtful(): Promise<Bench> {
  const outside = new Outside();
  outside.faults.push('lose_answer');
  const { world, runId } = await acting(outside);
  return new Bench(world, runId);
}

/** Cancelled before anybody could say what became of a call. */
export async function abandoned(): Promise<Bench> {
  const { world, runId } = await doubtful();
  await cancelRun(world.deps, { runId, tenantId: TENANT, stopKind: 'user' });
  await world.run();
  return new Bench(world, runId);
}

async function acting(outside: Outside): Promise<{ readonly world: World; readonly runId: string }> {
  const { capability } = outside;
  const post = defineWorkflow({
    type: 'post',
    planVersion: 1,
    input: z.object({}),
    steps: (step) => ({
      sent: step('send', { uses: [capability] }, ({ perform }) => perform(capability, { text: 'hello' })),
    }),
  });
  const world = new World({ workflows: [post], bindings: [outside.binding] });
  const runId = await world.start('post');
  await world.run();
  return { world, runId };
}

/** Made, and not yet touched by anybody. */
export async function pending(): Promise<Bench> {
  const world = worldOf([steps]);
  return new Bench(world, await world.start('steps', {}));
}

/** Somebody drives it, and has committed more than the snapshot shows. */
export async function driven(): Promise<Bench> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const held = defineWorkflow({
    type: 'held',
    planVersion: 1,
    input: z.object({}),
    steps(step) {
      const one = step('one', () => 1);
      const two = step('two', { needs: { one } }, () => LONG);
      return { three: step('three', { needs: { two }, idempotent: false }, () => promise) };
    },
  });
  const world = worldOf([held]);
  const runId = await world.start('held');
  const isHeld = () => world.db.runs.get(runId)?.events.at(-1)?.type === 'step_started';
  void world.run(isHeld);
  for (let turn = 0; !isHeld(); turn += 1) {
    if (turn > 1_000) throw new Error('the run never came to its last step');
    await settle();
  }
  const bench = new Bench(world, runId);
  resolve();
  return bench;
}

function worldOf(workflows: readonly Workflow[]): World {
  return new World({ workflows });
}
