import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { Fatal, NotApplied } from '../../packages/cairn/src/core/errors.ts';
import { driveSpan, runSpan, traceparentOf } from '../../packages/cairn/src/core/trace.ts';
import {
  type CallOptions,
  defineBinding,
  defineCapability,
} from '../../packages/cairn/src/engine/define/capability.ts';
import { WorkflowRegistry } from '../../packages/cairn/src/engine/define/registry.ts';
import { defineWorkflow } from '../../packages/cairn/src/engine/define/workflow.ts';
import { drive } from '../../packages/cairn/src/engine/drive/drive.ts';
import { startRun } from '../../packages/cairn/src/operations/start/start-run.ts';
import type { BusMessage } from '../../packages/cairn/src/ports/runs/event-bus.ts';
import { scan } from '../../packages/cairn/src/recovery/scan.ts';
import type { VirtualClock } from '../../packages/cairn/src/testing/world/virtual-clock.ts';
import { CollectedSpans } from '../support/collected-spans.ts';
import { dieDuring } from '../support/mortal.ts';
import { settle } from '../support/virtual-clock.ts';
import { plainStart, World, type WorldOptions } from '../support/world.ts';

const CALLER = {
  traceId: '4bf92f3577b34da6a3ce929d0e0e4736',
  spanId: '00f067aa0ba902b7',
  sampled: true,
};

const post = defineCapability({
  id: 'board.post',
  sideEffects: 'external_action',
  idempotency: 'not_supported',
  request: z.object({ text: z.string() }),
  response: z.object({ id: z.number() }),
});

/** Behaviour of the receiver in each test. */
interface Outside {
  call(options: CallOptions): Promise<{ id: number }>;
  lookup?(): Promise<{ found: true; response: { id: number } } | { found: false }>;
}

function told(
  outside: Partial<Outside> = {},
  { isUntold = false, ...more }: Partial<WorldOptions> & { readonly isUntold?: boolean } = {},
) {
  const spans = new CollectedSpans();
  const control: Outside & { hang: boolean } = { call: async () => ({ id: 1 }), hang: false, ...outside };
  const posting = defineBinding(post, {
    id: 'board.post.here',
    call: (_request, options) => control.call(options),
    lookup: async () => (await control.lookup?.()) ?? { found: false },
  });
  const poster = defineWorkflow({
    type: 'poster',
    planVersion: 1,
    input: z.object({}),
    steps(step) {
      const posted = step('post', { uses: [post], retry: { maxAttempts: 2 } }, ({ perform }) =>
        perform(post, { text: 'the secret plan' }),
      );
      const said = step('say', { needs: { posted } }, () =>
        control.hang ? new Promise<number>(() => {}) : 2,
      );
      return { said };
    },
  });
  const parent = defineWorkflow({
    type: 'parent',
    planVersion: 1,
    input: z.object({}),
    steps: (step) => ({ child: step.child('child', { workflow: 'poster', input: () => ({}) }) }),
  });
  const world = new World({
    workflows: [poster, parent],
    bindings: [posting],
    ...(isUntold ? {} : { tracerBy: (clock: VirtualClock) => spans.tracerBy(clock) }),
    ...more,
  });
  return { world, spans, control };
}

test('a run is one trace below its caller: start, drive, step, effect, call', async () => {
  const { world, spans } = told();
  const runId = await world.start('poster', {}, { trace: CALLER });
  await world.run();
  expect(world.stateOf(runId)).toMatchObject({
    status: 'completed',
    traceId: CALLER.traceId,
    traceSampled: true,
  });
  expect(spans.traceIds).toEqual([CALLER.traceId]);
  expect(spans.orphans([CALLER.spanId])).toEqual([]);
  const [call] = spans.named('call board.post.here');
  if (!call) throw new Error('no call was told');
  expect(spans.pathOf(call)).toEqual([
    'start poster',
    'drive poster',
    'step post',
    'effect board.post',
    'call board.post.here',
  ]);
  expect(call).toMatchObject({
    kind: 'client',
    attributes: { 'cairn.run.id': runId, 'cairn.step.id': 'post' },
  });
  expect(spans.named('start poster')).toMatchObject([
    {
      parent: CALLER,
      context: { ...runSpan({ id: runId, ...CALLER }), sampled: true },
      attributes: { 'cairn.start.outcome': 'created' },
    },
  ]);
  expect(spans.named('drive poster')).toMatchObject([
    {
      kind: 'consumer',
      attributes: { 'cairn.drive.end': 'closed', 'cairn.run.epoch': 1 },
      failure: undefined,
    },
  ]);
  expect(spans.named('effect board.post')[0]?.attributes).toMatchObject({
    'cairn.effect.outcome': 'executed',
  });
});

test('no span has data of its run', async () => {
  const { world, spans } = told({
    call: async () => {
      throw new NotApplied('hunter2 refused', { final: true });
    },
  });
  await world.start('poster', {}, { trace: CALLER });
  await world.run();
  expect(spans.named('effect board.post')).toMatchObject([{ failure: 'NotApplied' }]);
  expect(JSON.stringify(spans.ended)).not.toMatch(/secret plan|hunter2/);
});

test('a binding receives the span of its call', async () => {
  const received: (string | undefined)[] = [];
  const { world, spans } = told({
    call: async ({ traceparent }) => {
      received.push(traceparent);
      return { id: 1 };
    },
  });
  await world.start('poster', {}, { trace: CALLER });
  await world.run();
  const [call] = spans.named('call board.post.here');
  expect(received).toEqual([call && traceparentOf(call.context)]);
});

test('without a collector no trace is propagated to receivers', async () => {
  const received: object[] = [];
  const call = async (options: CallOptions) => {
    received.push(options);
    return { id: 1 };
  };
  const { world } = told({ call }, { isUntold: true });
  await world.start('poster');
  await world.run();
  expect(received).toHaveLength(1);
  expect(received[0]).not.toHaveProperty('traceparent');
});

describe('a drive that dies', () => {
  async function died() {
    const all = told();
    const { world, spans, control } = all;
    control.hang = true;
    const runId = await world.start('poster', {}, { trace: CALLER });
    world.queue.take();
    await dieDuring(world.deps, { runId });
    control.hang = false;
    expect(spans.named('step post')).toHaveLength(1);
    // It died before it could report the drive, which is the parent of this span.
    expect(spans.orphans([CALLER.spanId])).toContain('step post');
    return { ...all, runId };
  }

  test('is reported by the scan that finds its run, and the next drive belongs to the same trace', async () => {
    const { world, spans, runId } = await died();
    world.clock.jump(world.deps.settings.leaseMs + 1);
    await scan(world.deps);
    await world.run();
    expect(world.stateOf(runId).status).toBe('completed');
    const [scanned] = spans.named('scan');
    expect(spans.traceIds).toEqual(expect.arrayContaining([CALLER.traceId, scanned?.context.traceId]));
    expect(spans.traceIds).toHaveLength(2);
    expect(spans.orphans([CALLER.spanId])).toEqual([]);
    expect(spans.twice).toEqual([]);

    const attempts = (stepId: string) =>
      spans.named(`step ${stepId}`).map(({ attributes }) => attributes['cairn.step.outcome']);
    expect([attempts('post'), attempts('say')]).toEqual([['succeeded'], ['succeeded']]);
    const ofRun = { id: runId, traceId: CALLER.traceId, traceSampled: true };
    const [dead, next] = spans.named('drive poster');
    expect(dead).toMatchObject({
      context: driveSpan(ofRun, 1),
      failure: 'RUN_ORPHANED',
      attributes: { 'cairn.drive.end': 'orphaned' },
    });
    expect(next).toMatchObject({ context: driveSpan(ofRun, 2), parent: runSpan(ofRun), failure: undefined });
    expect(spans.named('recover poster')).toMatchObject([
      {
        parent: runSpan(ofRun),
        links: [scanned?.context, driveSpan(ofRun, 1)],
        attributes: { 'cairn.recovery.verdict': 'run_resumed' },
      },
    ]);
    expect(scanned?.attributes).toMatchObject({ 'cairn.scan.due': 1, 'cairn.scan.recovered': 1 });
  });

  test('is reported in the same way by a drive that finds its run', async () => {
    const { world, spans, runId } = await died();
    world.clock.jump(world.deps.settings.leaseMs + 1);
    expect(await drive(world.deps, { runId })).toBe('moved');
    await world.run();
    expect(world.stateOf(runId).status).toBe('completed');
    expect(spans.orphans([CALLER.spanId])).toEqual([]);
    expect(spans.twice).toEqual([]);
    expect(spans.named('drive poster').map(({ attributes }) => attributes['cairn.drive.end'])).toEqual([
      'orphaned',
      'moved',
      'closed',
    ]);
  });
});

test('a step that died with its drive has a span too, because its calls belong to it', async () => {
  const { world, spans, control } = told();
  control.hang = true;
  const acting = defineWorkflow({
    type: 'acting',
    planVersion: 1,
    input: z.object({}),
    steps: (step) => ({
      acted: step('act', { uses: [post] }, async ({ perform }) => {
        await perform(post, { text: 'x' });
        return control.hang ? new Promise<number>(() => {}) : 1;
      }),
    }),
  });
  const registry = new WorkflowRegistry([acting]);
  const deps = { ...world.deps, registry };
  const outcome = await startRun(
    { ...deps, records: world.records },
    { ...plainStart(acting, {}), trace: CALLER },
  );
  if (outcome.kind === 'in_flight') throw new Error('in flight');
  world.queue.take();
  await dieDuring(deps, { runId: outcome.runId });
  control.hang = false;
  expect(spans.named('call board.post.here')).toHaveLength(1);
  world.clock.jump(deps.settings.leaseMs + 1);
  await scan(deps);
  await world.run(undefined, deps);
  expect(spans.orphans([CALLER.spanId])).toEqual([]);
  expect(spans.twice).toEqual([]);
  expect(spans.named('step act').map(({ attributes }) => attributes['cairn.step.outcome'])).toEqual([
    'orphaned',
    'succeeded',
  ]);
  expect(
    spans.named('effect board.post').map(({ attributes }) => attributes['cairn.effect.outcome']),
  ).toEqual(['executed', 'reused']);
});

test('a drive that was taken over and continues reports no span: its successor has', async () => {
  const { world, spans, control } = told();
  const held = Promise.withResolvers<{ id: number }>();
  control.call = () => held.promise;
  const runId = await world.start('poster', {}, { trace: CALLER });
  world.queue.take();
  const zombie = drive(world.deps, { runId });
  await settle();
  world.clock.jump(world.deps.settings.leaseMs + 1);
  control.lookup = async () => ({ found: true, response: { id: 1 } });
  await scan(world.deps);
  held.resolve({ id: 1 });
  await world.run();
  expect(await zombie).toBe('lease_lost');
  expect(world.stateOf(runId).status).toBe('completed');
  expect(spans.twice).toEqual([]);
  expect(spans.orphans([CALLER.spanId])).toEqual([]);
});

test('an attempt in doubt, the lookup, and the reused answer have spans', async () => {
  const { world, spans, control } = told({
    call: async () => {
      throw new Error('the answer was lost');
    },
  });
  control.lookup = async () => ({ found: true, response: { id: 7 } });
  const runId = await world.start('poster', {}, { trace: CALLER });
  await world.run();
  expect(world.stateOf(runId).status).toBe('completed');
  expect(
    spans.named('effect board.post').map(({ attributes }) => attributes['cairn.effect.outcome']),
  ).toEqual(['in_doubt', 'reused']);
  expect(spans.named('lookup board.post.here')).toHaveLength(1);
  expect(
    spans.named('step post').map(({ attributes, failure }) => [attributes['cairn.step.attempt'], failure]),
  ).toEqual([
    [1, 'EFFECT_IN_DOUBT'],
    [2, undefined],
  ]);
});

test('a child is part of the trace of its parent, below its span', async () => {
  const { world, spans } = told();
  const runId = await world.start('parent', {}, { trace: CALLER });
  await world.run();
  expect(world.stateOf(runId).status).toBe('completed');
  expect(spans.traceIds).toEqual([CALLER.traceId]);
  expect(spans.orphans([CALLER.spanId])).toEqual([]);
  const [child] = spans.named('start poster');
  expect(child && spans.pathOf(child)).toEqual(['start parent', 'start poster']);
});

test('a run whose caller is not sampled reports nothing, in any process, and propagates that', async () => {
  const received: (string | undefined)[] = [];
  const { world, spans } = told({
    call: async ({ traceparent }) => {
      received.push(traceparent);
      return { id: 1 };
    },
  });
  await world.start('poster', {}, { trace: { ...CALLER, sampled: false } });
  await world.run();
  expect(spans.ended).toEqual([]);
  expect(received).toEqual([expect.stringMatching(new RegExp(`^00-${CALLER.traceId}-[0-9a-f]{16}-00$`))]);
});

test('the span of a compensation is marked as one', async () => {
  const undone = defineWorkflow({
    type: 'undone',
    planVersion: 1,
    input: z.object({}),
    steps(step) {
      const done = step('do', { compensate: () => {} }, () => 1);
      const failed = step('fail', { needs: { done } }, () => {
        throw new Fatal('no');
      });
      return { failed };
    },
  });
  const { world, spans } = told({}, { workflows: [undone], bindings: [] });
  await world.start('undone', {}, { trace: CALLER });
  await world.run();
  const [undo] = spans.named('undo do');
  expect(undo && spans.pathOf(undo)).toEqual(['start undone', 'drive undone', 'undo do']);
  expect(spans.named('step fail')).toMatchObject([{ failure: expect.any(String) }]);
});

test('a repeated start has a span in the trace of its caller', async () => {
  const { world, spans } = told();
  const key = 'api:c.ops:k';
  const runId = await world.start('poster', {}, { key, trace: CALLER });
  const again = { ...CALLER, traceId: 'a'.repeat(32) };
  expect(await world.start('poster', {}, { key, trace: again })).toBe(runId);
  expect(spans.named('start poster')).toMatchObject([
    { context: { traceId: CALLER.traceId }, attributes: { 'cairn.start.outcome': 'created' } },
    {
      context: { traceId: again.traceId },
      parent: again,
      attributes: { 'cairn.start.outcome': 'replayed', 'cairn.run.id': runId },
    },
  ]);
});

test('published events of a run carry its span', async () => {
  const published: BusMessage[] = [];
  const bus = {
    async publish(messages: readonly BusMessage[]) {
      published.push(...messages);
    },
  };
  const { world } = told({}, { bus });
  const runId = await world.start('poster', {}, { trace: CALLER });
  await world.run();
  const traceparent = traceparentOf({ ...runSpan({ id: runId, ...CALLER }), sampled: true });
  expect(published.length).toBeGreaterThan(3);
  for (const { attributes } of published) expect(attributes).toMatchObject({ traceparent });
});
