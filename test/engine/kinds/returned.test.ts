import { describe, expect, jest, test } from '@jest/globals';
import fc from 'fast-check';
import { z } from 'zod';
import { degraded } from '../../../packages/cairn/src/engine/define/body-result.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { World } from '../../support/world.ts';
import { ran } from './one-run.ts';

/** Text with lone surrogates, as a cut inside an emoji leaves them, and values that are not text. */
const odd = fc.oneof(
  { weight: 3, arbitrary: fc.string({ unit: 'binary', maxLength: 12 }).map((text) => `${text}\ud83d`) },
  fc.anything(),
  fc.constantFrom(Symbol('s'), 10n, Object.create(null), () => {}),
);
const RUNS = { numRuns: 40 };

describe('for any value returned by a function of the author the run ends, with one call of its body:', () => {
  test('the reason of a degraded output', async () => {
    await fc.assert(
      fc.asyncProperty(odd, async (reason) => {
        let called = 0;
        const { state } = await ran((step) => {
          const a = step('a', () => {
            called += 1;
            return degraded({ ok: true }, reason as string);
          });
          return { a, b: step('b', { needs: { a } }, () => called) };
        });
        const { outcome } = state.steps.get('a') as { outcome?: string };
        expect([state.status, called, outcome]).toEqual(['completed', 1, 'degraded']);
      }),
      RUNS,
    );
  });

  test('the reason of a degraded flow', async () => {
    await fc.assert(
      fc.asyncProperty(odd, async (reason) => {
        const { state } = await ran((step) => ({
          a: step.flow('a', {}, async () => degraded({ ok: true }, reason as string)),
        }));
        expect([state.status, state.steps.get('a')]).toMatchObject(['completed', { outcome: 'degraded' }]);
      }),
      RUNS,
    );
  });

  test.each([
    ['of the workflow', (policy: object) => ({ policy }), {}],
    ['of a step', () => ({}), (policy: object) => ({ policy })],
  ])('the reason of a policy %s, and the text of its rules', async (_, ofWorkflow, ofStep) => {
    await fc.assert(
      fc.asyncProperty(odd, fc.boolean(), async (reason, allowed) => {
        const policy = () => ({ allowed, reason, policySnapshotId: `rules ${'\ud83d'}` });
        const body = jest.fn(() => 1);
        const options = typeof ofStep === 'function' ? ofStep(policy) : ofStep;
        const world = new World({
          workflows: [
            defineWorkflow({
              type: 'w',
              planVersion: 1,
              input: z.looseObject({}),
              steps: (step) => ({ a: step('a', options as never, body) }),
              ...(ofWorkflow(policy) as object),
            }),
          ],
        });
        const runId = await world.start('w');
        await world.run();
        const { status } = world.stateOf(runId);
        expect([status, body.mock.calls.length]).toEqual(allowed ? ['completed', 1] : ['cancelled', 0]);
      }),
      RUNS,
    );
  });

  test('the items of a map, with holes', async () => {
    const items = fc
      .sparseArray(fc.integer(), { maxLength: 8, maxNumElements: 4 })
      .map((array) => array as unknown[]);
    await fc.assert(
      fc.asyncProperty(items, async (over) => {
        const seen: unknown[] = [];
        const { state } = await ran((step) => {
          const m = step.map('m', { over: () => over }, ({ item }) => [item ?? null]);
          return { m, last: step('last', { needs: { m } }, ({ m }) => seen.push(m)) };
        });
        expect(state.status).toBe('completed');
        expect(seen).toEqual([Array.from(over, (item) => [item ?? null])]);
      }),
      RUNS,
    );
  });

  test('a condition that is a promise: the step fails without running', async () => {
    const body = jest.fn(() => 1);
    const { state } = await ran((step) => ({
      a: step('a', { when: (() => Promise.reject(new Error('late'))) as never }, body),
    }));
    expect([state.status, body.mock.calls.length]).toEqual(['failed', 0]);
    expect(state.error?.message).toBe("'when' of step 'a' must return true or false, not a promise");
  });
});

describe('concurrent memos of one name', () => {
  test('are made once', async () => {
    let made = 0;
    const values: number[] = [];
    await ran((step) => ({
      a: step('a', async ({ memo }) => {
        const make = async () => {
          made += 1;
          const value = made;
          await undefined;
          return value;
        };
        values.push(...(await Promise.all(['x', 'y', 'x', 'x'].map((name) => memo(name, make)))));
      }),
    }));
    const [x, y] = values;
    expect([made, x !== y, values]).toEqual([2, true, [x, y, x, x]]);
  });

  test('share an error, and the next call makes the memo again', async () => {
    let made = 0;
    let seen: unknown;
    await ran((step) => ({
      a: step('a', async ({ memo }) => {
        const make = () => {
          made += 1;
          if (made === 1) throw new Error('not yet');
          return made;
        };
        const both = await Promise.allSettled([memo('x', make), memo('x', make)]);
        seen = [...both.map(({ status }) => status), await memo('x', make)];
      }),
    }));
    expect(seen).toEqual(['rejected', 'rejected', 2]);
  });

  test('count towards the maximum of a step', async () => {
    const { state } = await ran((step) => ({
      a: step('a', { retry: { maxAttempts: 1 } }, ({ memo }) =>
        Promise.all(Array.from({ length: 1_001 }, (_, n) => memo(`memo ${n}`, () => n))).then(() => 'all'),
      ),
    }));
    expect(state.error?.message).toMatch(/at most 1000 memos/);
  });
});
