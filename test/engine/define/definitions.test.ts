import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { DEFAULT_RETRY } from '../../../packages/cairn/src/core/decisions/retry.ts';
import { degraded } from '../../../packages/cairn/src/engine/define/body-result.ts';
import type { StepDefinition, Workflow } from '../../../packages/cairn/src/engine/define/steps.ts';
import type { Handle, StepFactory } from '../../../packages/cairn/src/engine/define/types.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { PRODUCTION_SETTINGS } from '../../../packages/cairn/src/engine/settings.ts';
import { defining } from './loosely.ts';

const Input = z.object({ repo: z.string(), count: z.number() });
type Input = z.infer<typeof Input>;

type Steps = (step: StepFactory<Input>) => Readonly<Record<string, Handle<unknown>>>;

function defined(steps: Steps): Workflow {
  return defineWorkflow({ type: 'defined', planVersion: 1, input: Input, steps });
}

function only(make: (step: StepFactory<Input>) => Handle<unknown>): StepDefinition {
  const step = defined((factory) => ({ it: make(factory) })).steps.get('it');
  if (!step) throw new Error('no step');
  return step;
}

describe('a default', () => {
  test('of a step applies to each omitted option', () => {
    expect(only((step) => step('it', () => 1))).toMatchObject({
      kind: 'step',
      needs: {},
      ifSkipped: 'skip',
      idempotent: true,
      resumable: true,
      onFailure: { kind: 'fail' },
      retry: DEFAULT_RETRY,
      retryPerError: [],
      timeoutMs: PRODUCTION_SETTINGS.stepTimeoutMs,
    });
  });

  test('of a map is that every item must succeed, eight at once', () => {
    expect(only((step) => step.map('it', { over: () => [1] }, () => 1))).toMatchObject({
      kind: 'map',
      set: { concurrency: 8, completion: { kind: 'all' } },
    });
  });

  test('of an approval is no deadline, and failure on a rejection', () => {
    const step = only((define) => define.approval('it', { ask: () => '?' }));
    expect(step).toMatchObject({ kind: 'approval', onExpiry: 'fail', onFailure: { kind: 'fail' } });
    expect(step).not.toHaveProperty('timeoutMs');
    expect(step).not.toHaveProperty('escalate');
  });

  test('of a child is that it ends with its parent, and counts as one', () => {
    const step = only((define) => define.child('it', { workflow: 'other', input: () => ({}) }));
    expect(step).toMatchObject({ kind: 'child', workflow: 'other', onParentEnd: 'cancel' });
    expect(step).not.toHaveProperty('set');
  });
});

const NO_STARTS = { github: [], schedules: [], slack: [], pubsub: [] };

test.each([undefined, {}, { github: null, schedule: null, slack: null, pubsub: null }])(
  'a start that a workflow leaves out or sets to null is none: %j',
  (on) => {
    expect(defining((step) => ({ it: step('it', () => 1) }), { on })()).toMatchObject(NO_STARTS);
  },
);

describe('an option', () => {
  test.each([
    [{ tolerate: 3 }, { kind: 'tolerate', failures: 3 }],
    [{ tolerate: '10%' }, { kind: 'share', percent: 10 }],
    [{ tolerate: '0.5%' }, { kind: 'share', percent: 0.5 }],
    [{ tolerate: '100%' }, { kind: 'share', percent: 100 }],
    [{ atLeast: 2 }, { kind: 'at_least', successes: 2 }],
  ] as const)('completion, %j, means %j', (completion, meaning) => {
    const step = only((define) => define.map('it', { over: () => [1], completion }, () => 1));
    expect(step).toMatchObject({ set: { completion: meaning } });
  });

  test('of time is converted to milliseconds', () => {
    const ask = () => '?';
    const escalate = { after: '1h', text: 'hurry' };
    expect(only((step) => step.approval('it', { ask, timeout: '2d', escalate }))).toMatchObject({
      timeoutMs: 172_800_000,
      escalate: { afterMs: 3_600_000, text: 'hurry' },
    });
    const options = { timeout: '30s', heartbeatTimeout: 500 };
    expect(only((step) => step('it', options, () => 1))).toMatchObject({
      timeoutMs: 30_000,
      heartbeatTimeoutMs: 500,
    });
  });

  test('of a retry for one error inherits from the retry of the step', () => {
    const retry = { maxAttempts: 7, capMs: 9, perError: [{ match: 'RateLimited', initialMs: 5 }] };
    expect(only((step) => step('it', { retry }, () => 1))).toMatchObject({
      retryPerError: [
        { match: 'RateLimited', policy: { ...DEFAULT_RETRY, maxAttempts: 7, capMs: 9, initialMs: 5 } },
      ],
    });
  });

  test('of a degraded value is kept as canonical JSON', () => {
    const onFailure = { degradeTo: { b: 1, a: [2] } };
    expect(only((step) => step('it', { onFailure }, () => ({ b: 1, a: [1] })))).toMatchObject({
      onFailure: { kind: 'degrade', text: '{"a":[2],"b":1}' },
    });
  });

  test('of a child names another workflow, by itself or by its type', () => {
    const other = defined((step) => ({ a: step('a', () => 1) }));
    expect(only((step) => step.child('it', { workflow: other, input: () => ({}) }))).toMatchObject({
      workflow: 'defined',
    });
  });

  test('of order matters only where the needs leave it open', () => {
    const workflow = defined((step) => {
      const late = step('late', () => 1);
      const early = step('early', { needs: { late } }, () => 1);
      const side = step.sleep('side', { for: 1 });
      return { out: step('out', { needs: { early, side, again: late } }, () => 1) };
    });
    expect(workflow.graph.order).toEqual(['late', 'early', 'side', 'out']);
    expect(workflow.steps.get('out')?.needs).toEqual({ early: 'early', side: 'side', again: 'late' });
    expect(workflow.result).toEqual({ out: 'out' });
  });
});

/** The compiler checks this code: it compiles, and each marked line does not. */
describe('the body receives, typed, what it needs:', () => {
  test('outputs of plain steps', () => {
    const workflow = defined((step) => {
      const diff = step('diff', ({ input }) => ({ files: [input.repo], lines: input.count }));
      // @ts-expect-error -- it needs nothing
      step('no-need', ({ diff }) => diff);
      // @ts-expect-error -- the output has no such member
      step('wrong-member', { needs: { diff } }, ({ diff }) => diff.hunks);
      // @ts-expect-error -- a list is no text
      step('wrong-type', { needs: { diff } }, ({ diff }) => diff.files.toUpperCase());
      // @ts-expect-error -- it is called by the name that was given to the need
      step('wrong-name', { needs: { changes: diff } }, ({ diff }) => diff);
      // @ts-expect-error -- the input has no such member
      step('wrong-input', ({ input }) => input.branch);
      // @ts-expect-error -- no step is needed by its name
      expect(() => step('no-handle', { needs: { diff: 'diff' } }, () => 1)).toThrow(
        "the need 'diff' is not a step",
      );
      return { out: step('out', { needs: { diff } }, ({ diff }) => diff.files.length + diff.lines) };
    });
    expect(workflow.steps.size).toBe(7);
  });

  test('null for a need that may have been skipped', () => {
    const workflow = defined((step) => {
      const size = step('size', { when: ({ input }) => input.count > 0 }, ({ input }) => input.count);
      // @ts-expect-error -- it may be undefined
      step('sure', { needs: { size }, ifSkipped: 'run' }, ({ size }) => size + 1);
      return { out: step('out', { needs: { size }, ifSkipped: 'run' }, ({ size }) => (size ?? 0) + 1) };
    });
    expect(workflow.graph.node('out').ifSkipped).toBe('run');
  });

  test('the items and results of a map', () => {
    const workflow = defined((step) => {
      const files = step('files', () => ['a', 'b']);
      const needs = { files };
      const over = ({ files }: { files: string[] }) => files;
      const sizes = step.map('sizes', { needs, over }, ({ item, index }) => item.length + index);
      const some = step.map('some', { needs, over, completion: { tolerate: 1 } }, ({ item }) => item.length);
      // @ts-expect-error -- an item is a text
      step.map('wrong-item', { needs, over }, ({ item }) => item.toFixed());
      // @ts-expect-error -- a step has no items
      step('item', ({ item }) => item);
      // @ts-expect-error -- a tolerated failure leaves no result
      step('some-missing', { needs: { some } }, ({ some }) => some.map((size) => size + 1));
      return { out: step('out', { needs: { sizes } }, ({ sizes }) => sizes.map((size) => size + 1)) };
    });
    expect(workflow.steps.size).toBe(7);
  });

  test('the state of a loop', () => {
    const workflow = defined((step) => {
      const diff = step('diff', ({ input }) => [input.repo]);
      const needs = { diff };
      const max = 3;
      const counted = step.loop('counted', {
        needs,
        state: ({ diff }) => ({ left: diff.length }),
        while: ({ state, input }) => state.left > 0 && input.count > 0,
        max,
        pause: ({ turn }) => turn * 1_000,
        body: ({ state, turn, diff }) => ({ left: state.left - turn - diff.length }),
      });
      const Status = z.object({ status: z.enum(['waiting', 'done']) });
      const asked = step.loop('asked', {
        output: Status,
        state: () => ({ status: 'waiting' }),
        while: ({ state }) => state.status === 'waiting',
        max,
        body: () => ({ status: 'done' }),
      });
      const going = { while: () => true, max };
      // @ts-expect-error -- the state has no such member
      step.loop('wrong-member', { ...going, state: () => ({ left: 1 }), body: ({ state }) => state.right });
      // @ts-expect-error -- a turn returns another state than the first
      step.loop('wrong-state', { ...going, state: () => 0, body: () => 'one' });
      // @ts-expect-error -- a date does not come back as one
      step.loop('no-json', { ...going, state: () => new Date(0), body: ({ state }) => state });
      // @ts-expect-error -- there is a limit to each loop
      expect(() => step.loop('endless', { while: () => true, state: () => 0, body: () => 1 })).toThrow(
        "'max'",
      );
      return {
        out: step('out', { needs: { counted, asked } }, ({ counted, asked }) => {
          const status: 'waiting' | 'done' = asked.status;
          return `${counted.left} ${status}`;
        }),
      };
    });
    expect(workflow.steps.size).toBe(7);
  });

  test('answers of people and events', () => {
    const workflow = defined((step) => {
      const gate = step.approval('gate', { ask: ({ input }) => `merge ${input.repo}?` });
      const built = step.event('built', {
        event: 'ci',
        key: ({ input }) => input.repo,
        output: z.object({ ok: z.boolean() }),
      });
      const kid = step.child('kid', { workflow: 'other', input: () => ({}) });
      const kids = step.child('kids', {
        workflow: 'other',
        over: () => [1, 2],
        input: ({ item }) => item + 1,
      });
      const nap = step.sleep('nap', { for: ({ input }) => input.count });
      // @ts-expect-error -- a rejected run does not get here
      step('rejected', { needs: { gate } }, ({ gate }) => gate.decision === 'reject');
      // @ts-expect-error -- the sender sends something else
      step('wrong-event', { needs: { built } }, ({ built }) => built.sha);
      // @ts-expect-error -- several children have a list of results
      step('wrong-child', { needs: { kids } }, ({ kids }) => kids.verdict);
      // @ts-expect-error -- a key is a text
      step.event('wrong-key', { event: 'ci', key: ({ input }) => input.count });
      return {
        out: step('out', { needs: { gate, built, kid, kids, nap } }, ({ gate, built, kid, kids, nap }) => [
          gate.note ?? gate.by,
          built.ok,
          kid.verdict ?? null,
          kids[0]?.verdict ?? null,
          nap,
        ]),
      };
    });
    expect(workflow.steps.size).toBe(10);
  });

  test('the result and the input of a child that is given as a workflow', () => {
    const other = defineWorkflow({
      type: 'other',
      planVersion: 1,
      input: z.object({ site: z.string(), depth: z.number().default(1) }),
      steps: (step) => ({ found: step('found', ({ input }) => input.site.length * input.depth) }),
    });
    const workflow = defined((step) => {
      const input = () => ({ site: 'a' });
      const over = () => ['a', 'b'];
      const kid = step.child('kid', { workflow: other, input });
      const kids = step.child('kids', { workflow: other, over, input: ({ item }) => ({ site: item }) });
      // @ts-expect-error -- the workflow has no such output
      step('wrong-output', { needs: { kid } }, ({ kid }) => kid.lost);
      // @ts-expect-error -- the step may have been skipped
      step('sure', { needs: { kid } }, ({ kid }) => kid.found + 1);
      // @ts-expect-error -- the workflow takes a text
      step.child('wrong-input', { workflow: other, input: () => ({ site: 1 }) });
      // @ts-expect-error -- an item is a text
      step.child('wrong-item', { workflow: other, over, input: ({ item }) => ({ site: item.length }) });
      return {
        out: step(
          'out',
          { needs: { kid, kids } },
          ({ kid, kids }) => (kid.found ?? 0) + kids.reduce((sum, { found }) => sum + (found ?? 0), 0),
        ),
      };
    });
    expect(workflow.steps.size).toBe(7);
  });

  test('its own output in its compensation, and a replacement of its type', () => {
    const workflow = defined((step) => {
      const lock = step('lock', { compensate: ({ output }) => void output.id.length }, () => ({ id: 'l' }));
      // @ts-expect-error -- the output has no such member
      step('wrong-undo', { compensate: ({ output }) => void output.key.length }, () => ({ id: 'l' }));
      // @ts-expect-error -- a text is not what the step returns
      step('wrong-value', { onFailure: { degradeTo: 'none' } }, () => ({ id: 'l' }));
      return { lock, less: step('less', () => degraded({ id: 'none' }, 'no lock was free')) };
    });
    expect(workflow.steps.get('lock')).toHaveProperty('compensate');
  });
});
