import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { Fatal, RetryAt } from '../../packages/cairn/src/core/errors.ts';
import { verifyChain } from '../../packages/cairn/src/core/run/chain.ts';
import { defineWorkflow } from '../../packages/cairn/src/engine/define/workflow.ts';
import { World } from '../support/world.ts';

const AnyInput = z.object({ n: z.number().default(1) });

const sums = defineWorkflow({
  type: 'sums',
  planVersion: 1,
  input: AnyInput,
  steps(step) {
    const one = step('one', ({ input }) => input.n + 1);
    const left = step('left', { needs: { one } }, ({ one }) => one * 2);
    const right = step('right', { needs: { one } }, async ({ one }) => one * 3);
    const sum = step('sum', { needs: { left, right } }, ({ left, right }) => left + right);
    return { sum };
  },
});

describe('a drive', () => {
  test('drives a run from its first event to its result', async () => {
    const world = new World({ workflows: [sums] });
    const runId = await world.start('sums', { n: 4 });
    await world.run();
    const state = await world.folded(runId);
    expect(state.status).toBe('completed');
    expect(state.result).toEqual({ text: '{"sum":25}' });
    expect(await world.eventTypes(runId)).toEqual([
      'run_created',
      'run_claimed',
      'run_started',
      'step_succeeded',
      'step_succeeded',
      'step_succeeded',
      'step_succeeded',
      'run_completed',
    ]);
    expect(verifyChain(runId, await world.store.readEvents(runId, 0, 100))).toBeUndefined();
  });

  test('leaves a snapshot that equals the folded journal (J5)', async () => {
    const world = new World({ workflows: [sums] });
    const runId = await world.start('sums');
    await world.run();
    expect((await world.store.load(runId))?.state).toEqual(await world.folded(runId));
  });

  test('retries failures, and fails the run when its attempts are used up', async () => {
    const attempts: number[] = [];
    const flaky = defineWorkflow({
      type: 'flaky',
      planVersion: 1,
      input: AnyInput,
      steps(step) {
        const only = step('only', { retry: { maxAttempts: 3 } }, ({ attempt }) => {
          attempts.push(attempt);
          throw new Error('no luck');
        });
        return { only };
      },
    });
    const world = new World({ workflows: [flaky] });
    const runId = await world.start('flaky');
    await world.run();
    expect(attempts).toEqual([1, 2, 3]);
    const state = await world.folded(runId);
    expect(state.status).toBe('failed');
    expect(state.error).toMatchObject({ code: 'STEP_FAILED', message: 'no luck', stepId: 'only' });
  });

  test('does not retry Fatal', async () => {
    let calls = 0;
    const fatal = defineWorkflow({
      type: 'fatal',
      planVersion: 1,
      input: AnyInput,
      steps(step) {
        return {
          only: step('only', () => {
            calls += 1;
            throw new Fatal('never');
          }),
        };
      },
    });
    const world = new World({ workflows: [fatal] });
    const runId = await world.start('fatal');
    await world.run();
    expect(calls).toBe(1);
    expect((await world.folded(runId)).status).toBe('failed');
  });

  test('releases the run until a distant RetryAt, and continues then', async () => {
    const at = Date.UTC(2026, 0, 1, 1);
    const patient = defineWorkflow({
      type: 'patient',
      planVersion: 1,
      input: AnyInput,
      steps(step) {
        const only = step('only', ({ attempt }) => {
          if (attempt === 1) throw new RetryAt(at);
          return world.clock.now();
        });
        return { only };
      },
    });
    const world = new World({ workflows: [patient] });
    const runId = await world.start('patient');
    await world.run(() => world.queue.pending.some((task) => task.at === at));
    expect((await world.folded(runId)).lease).toBeUndefined();
    await world.run();
    const state = await world.folded(runId);
    expect(state.status).toBe('completed');
    const { only } = JSON.parse((state.result as { text: string }).text);
    expect(only).toBeGreaterThanOrEqual(at);
    expect(only).toBeLessThan(at + 2_000);
  });

  test('skips a step whose condition is false, and its dependents', async () => {
    const conditional = defineWorkflow({
      type: 'conditional',
      planVersion: 1,
      input: AnyInput,
      steps(step) {
        const maybe = step('maybe', { when: ({ input }) => input.n > 1 }, () => 'ran');
        const after = step('after', { needs: { maybe } }, ({ maybe }) => `${maybe}!`);
        const anyway = step(
          'anyway',
          { needs: { maybe }, ifSkipped: 'run' },
          ({ maybe }) => maybe ?? 'without',
        );
        return { after, anyway };
      },
    });
    const world = new World({ workflows: [conditional] });
    const skipped = await world.start('conditional', { n: 1 });
    const ran = await world.start('conditional', { n: 2 });
    await world.run();
    expect((await world.folded(skipped)).result).toEqual({ text: '{"after":null,"anyway":"without"}' });
    expect((await world.folded(ran)).result).toEqual({ text: '{"after":"ran!","anyway":"ran"}' });
  });

  test('ends a step at its timeout, and aborts its signal', async () => {
    let reason: unknown;
    const slow = defineWorkflow({
      type: 'slow',
      planVersion: 1,
      input: AnyInput,
      steps(step) {
        const only = step('only', { timeout: '2s', retry: { maxAttempts: 1 } }, ({ signal }) => {
          signal.addEventListener('abort', () => {
            reason = signal.reason;
          });
          return new Promise<never>(() => {});
        });
        return { only };
      },
    });
    const world = new World({ workflows: [slow] });
    const runId = await world.start('slow');
    await world.run();
    expect((await world.folded(runId)).error).toMatchObject({ code: 'STEP_TIMEOUT' });
    expect(reason).toMatchObject({ why: 'timeout' });
  });

  test('blocks a run whose plan version is not deployed, and continues once it is', async () => {
    const world = new World({ workflows: [sums] });
    const runId = await world.start('sums');
    const without = { ...world.deps, registry: new World({ workflows: [] }).deps.registry };
    await world.run(
      () => [...world.db.runs.values()].some((run) => run.snapshot.status === 'waiting_external'),
      without,
    );
    expect((await world.folded(runId)).status).toBe('waiting_external');
    await world.run();
    expect((await world.folded(runId)).status).toBe('completed');
  });

  test('a hundred parallel steps and a join take at most ten commits', async () => {
    const wide = defineWorkflow({
      type: 'wide',
      planVersion: 1,
      input: AnyInput,
      steps(step) {
        const parts = Object.fromEntries(
          Array.from({ length: 100 }, (_, i) => [`p${i}`, step(`part-${i}`, () => i)]),
        );
        const join = step('join', { needs: parts }, (context) => Object.keys(context).length);
        return { join };
      },
    });
    const world = new World({ workflows: [wide] });
    let commits = 0;
    const counting = new Proxy(world.store, {
      get(target, name) {
        if (name === 'commit') commits += 1;
        const value = Reflect.get(target, name);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
    const runId = await world.start('wide');
    await world.run(undefined, { ...world.deps, store: counting });
    expect((await world.folded(runId)).status).toBe('completed');
    expect(commits).toBeLessThanOrEqual(10);
  });
});

test('a step that fails before its body begins prevents the others from starting', async () => {
  let ran = 0;
  const workflow = defineWorkflow({
    type: 'early-failure',
    planVersion: 1,
    input: AnyInput,
    steps(step) {
      const bad = step(
        'bad',
        {
          retry: { maxAttempts: 1 },
          when: () => {
            throw new Error('no condition');
          },
        },
        () => 1,
      );
      const good = step('good', () => {
        ran += 1;
      });
      return { bad, good };
    },
  });
  const world = new World({ workflows: [workflow] });
  const runId = await world.start('early-failure');
  await world.run();
  expect((await world.folded(runId)).error).toMatchObject({ message: 'no condition', stepId: 'bad' });
  expect(ran).toBe(0);
});
