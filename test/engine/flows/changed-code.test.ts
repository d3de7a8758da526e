/** Flows whose code is replaced while their operations wait: the new code asks for some of them later, or not at all. */
import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import type { Flow } from '../../../packages/cairn/src/engine/define/flow/types.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { LOCAL_SETTINGS } from '../../../packages/cairn/src/engine/settings.ts';
import { Driver } from '../../../packages/cairn/src/testing/driver.ts';
import { ObservedBodies } from '../../../packages/cairn/src/testing/observed-bodies.ts';
import * as operations from '../../../packages/cairn/src/testing/operations.ts';
import { TestRun } from '../../../packages/cairn/src/testing/test-run.ts';
import { CrashPlan, type Moment } from '../../../packages/cairn/src/testing/world/crash-plan.ts';
import { assertStored } from '../../support/soundness.ts';
import { World } from '../../support/world.ts';

type Code = (flow: Flow<Record<never, never>>) => Promise<unknown>;

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const child = defineWorkflow({
  type: 'child',
  planVersion: 1,
  input: z.object({}),
  steps: (step) => ({ done: step('do', () => 'done') }),
});

const asking = defineWorkflow({
  type: 'asking',
  planVersion: 1,
  input: z.object({}),
  steps: (step) => ({ asked: step.approval('ask', { ask: () => 'Well?' }) }),
});

/** Dies before the first call with this name. */
class DiesAt extends CrashPlan {
  readonly #label: string;
  readonly #onDeath: () => void;
  constructor(label: string, onDeath: () => void) {
    super();
    this.#label = label;
    this.#onDeath = onDeath;
  }

  override note(label: string): Moment | undefined {
    const isFirst = label === this.#label && !this.made.includes(label);
    super.note(label);
    if (isFirst) this.#onDeath();
    return isFirst ? 'before' : undefined;
  }
}

/** A run whose code can be replaced at any time. */
class Stage {
  readonly world: World;
  readonly #driver: Driver;
  readonly #bodies: ObservedBodies;
  #code: Code;
  #runId = '';

  /** @param diesAt call at which the first process dies and the second code is deployed */
  constructor(
    code: Code,
    more: { readonly diesAt?: string; readonly next?: Code; readonly retry?: object } = {},
  ) {
    this.#code = code;
    const { diesAt, next = code, retry } = more;
    const deploy = () => this.deploy(next);
    const plan = diesAt === undefined ? undefined : new DiesAt(diesAt, deploy);
    this.#bodies = new ObservedBodies({ patienceMs: 0, onCrash: () => this.#driver.crash(), plan });
    const flow = defineWorkflow({
      type: 'w',
      planVersion: 1,
      input: z.object({}),
      steps: (step) => ({
        // Another wait, outside of the flow.
        ...(retry && { beside: step.approval('beside', { ask: () => 'Well?' }) }),
        out: step.flow(
          'main',
          { retry } as never,
          ((flow: Parameters<Code>[0]) => this.#code(flow)) as never,
        ),
      }),
    });
    const workflows = [flow, child, asking].map((workflow) => this.#bodies.observe(workflow));
    this.world = new World({ workflows, settings: { ...LOCAL_SETTINGS } });
    this.#driver = new Driver({ installation: this.world, bodies: this.#bodies, seed: 1, plan });
  }

  deploy(code: Code): void {
    this.#code = code;
  }

  async start(): Promise<void> {
    this.#runId = await operations.start(this.world, { type: 'w', input: {} });
    await this.#driver.settle();
  }

  async advance(ms: number): Promise<void> {
    const { clock } = this.world;
    const until = clock.now() + ms;
    await this.#driver.settle();
    while (this.#driver.moveOn(until)) await this.#driver.settle();
    clock.jump(until - clock.now());
    assertStored(this.world.db, this.#runId, Number.POSITIVE_INFINITY);
  }

  approve(step: string) {
    return operations.decide(this.world, this.run, { decision: 'approve', step: `main[${step}]` });
  }

  get run(): TestRun {
    return new TestRun(this.#runId, this.world, this.#bodies);
  }

  get events(): number {
    return this.run.journal().length;
  }
}

const OVER: Readonly<Record<string, Code>> = {
  'a sleep': (flow) => flow.sleep('a', '5m'),
  'the time of an event': (flow) => flow.event('a', { key: 'k', timeout: '5m' }).catch(() => 'late'),
  'the time of a question': (flow) => flow.approval('a', 'Now?', { timeout: '5m', onExpiry: 'approve' }),
};

describe.each(Object.entries(OVER))('while the new code does not ask for %s that is over', (_, over) => {
  const code: Code = (flow) => Promise.all([over(flow), flow.approval('b', 'Go?')]);
  const later: Code = async (flow) => {
    await flow.approval('b', 'Go?');
    return over(flow);
  };

  test('the run rests, and continues at once when another wait is answered', async () => {
    const stage = new Stage(code);
    await stage.start();
    stage.deploy(later);
    await stage.advance(5 * DAY);
    // A look each hour, after some in the first one.
    expect(stage.events).toBeLessThan(10 + 2 * (5 * 24 + 10));
    await stage.approve('b');
    await stage.advance(0);
    expect(stage.run.status()).toBe('completed');
  });

  test('the original code continues within an hour after it is deployed again', async () => {
    const stage = new Stage(code);
    await stage.start();
    stage.deploy(later);
    await stage.advance(DAY);
    stage.deploy(code);
    await stage.advance(HOUR);
    expect(stage.run.state().steps.get('main[a]')?.phase).toBe('done');
    await stage.approve('b');
    await stage.advance(0);
    expect(stage.run.status()).toBe('completed');
  });
});

const WAITS: Readonly<Record<string, Code>> = {
  'a sleep': (flow) => flow.sleep('a', '5m'),
  'an event': (flow) => flow.event('a', { key: 'k' }),
  'an approval': (flow) => flow.approval('a', 'Now?'),
  'a child': (flow) => flow.child('a', asking, {}),
};
const BODIES: Readonly<Record<string, Code>> = {
  'a step': (flow) => flow.step('a', () => 1),
  'a recorded time': (flow) => flow.now('a'),
  'a child to wait for': (flow) => flow.child('a', child, {}, { onParentEnd: 'wait' }),
};
const changes = Object.entries(WAITS).flatMap(([was, code]) =>
  Object.entries(BODIES).map(([is, next]) => ({ was, code, is, next })),
);

test.each(changes)(
  '$was that is open has diverged when the new code asks for $is',
  async ({ code, next }) => {
    const stage = new Stage((flow) => Promise.all([code(flow), flow.approval('b', 'Go?')]));
    await stage.start();
    stage.deploy((flow) => Promise.all([next(flow), flow.approval('b', 'Go?')]));
    await stage.approve('b');
    await stage.advance(0);
    expect(stage.run.state()).toMatchObject({ status: 'failed', error: { code: 'FLOW_DIVERGED' } });
  },
);

describe('a wait that a dead process opened, and that the new code does not ask for,', () => {
  test('gets its event when the original code is deployed again', async () => {
    const code: Code = (flow) => Promise.all([flow.event('a', { key: 'k' }), flow.approval('b', 'Go?')]);
    const next: Code = (flow) => flow.approval('b', 'Go?');
    const stage = new Stage(code, { diesAt: 'mailboxes.read', next });
    await stage.start();
    await stage.advance(DAY);
    expect(stage.run.state().waits.map(({ id }) => id)).toContain('main[a].1');
    stage.deploy(code);
    await stage.advance(HOUR);
    await operations.deliver(stage.world, { event: 'a', key: 'k', data: 1 });
    await stage.advance(MINUTE);
    expect(stage.run.state().steps.get('main[a]')).toMatchObject({ phase: 'done', outcome: 'succeeded' });
  });

  test('gets its child when the original code is deployed again', async () => {
    const code: Code = (flow) => Promise.all([flow.child('a', child, {}), flow.approval('b', 'Go?')]);
    const next: Code = (flow) => flow.approval('b', 'Go?');
    const stage = new Stage(code, { diesAt: 'otherRuns.startChild', next });
    await stage.start();
    await stage.advance(DAY);
    expect(stage.world.db.runs.size).toBe(1);
    stage.deploy(code);
    await stage.advance(HOUR + MINUTE);
    expect(stage.run.state().steps.get('main[a]')).toMatchObject({ phase: 'done', outcome: 'succeeded' });
  });
});

test('a flow that rests before another attempt is not dispatched for a wait of the last one that is over', async () => {
  const stage = new Stage(
    async (flow) => {
      void flow.event('a', { key: 'k', timeout: '5m' }).catch(() => {});
      await flow.step('c', () => 1);
      throw new Error('again');
    },
    { retry: { maxAttempts: 2, initialMs: 100 * HOUR, capMs: 100 * HOUR, factor: 1 } },
  );
  await stage.start();
  expect(stage.run.state().steps.get('main')?.phase).toBe('retrying');
  const before = stage.events;
  await stage.advance(HOUR);
  expect(stage.events - before).toBeLessThan(10);
});
