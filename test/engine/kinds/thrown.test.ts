import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { defineBinding, defineCapability } from '../../../packages/cairn/src/engine/define/capability.ts';
import { assertStored } from '../../support/soundness.ts';
import { World } from '../../support/world.ts';
import { ran, workflowOf } from './one-run.ts';

function refuses(): never {
  throw new Error('do not look');
}

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

function ring(): Error {
  const error = new Error('a ring');
  error.cause = error;
  return error;
}

const withMember = (name: string, descriptor: PropertyDescriptor) =>
  Object.defineProperty(new Error('odd'), name, descriptor);

const ODD: readonly (readonly [what: string, thrown: () => unknown, told: RegExp])[] = [
  ['nothing', () => undefined, /^undefined$/],
  ['a symbol', () => Symbol('s'), /^Symbol\(s\)$/],
  ['an object without a text', () => Object.create(null), /no text/],
  ['an object whose text throws', () => ({ toString: refuses }), /no text/],
  [
    'an error whose message throws',
    () => withMember('message', { get: refuses }),
    /the thrown value cannot be read/,
  ],
  [
    'an error whose stack throws',
    () => withMember('stack', { get: refuses }),
    /the thrown value cannot be read/,
  ],
  [
    'an error whose code throws',
    () => withMember('code', { get: refuses }),
    /the thrown value cannot be read/,
  ],
  ['an error whose message is a number', () => withMember('message', { value: 42 }), /^42$/],
  ['an error whose message is an object', () => withMember('message', { value: {} }), /object/],
  ['an error whose stack is an object', () => withMember('stack', { value: {} }), /^odd$/],
  [
    'a proxy that throws on every access',
    () => new Proxy(new Error('p'), { get: refuses, getPrototypeOf: refuses }),
    /cannot be/,
  ],
  ['a revoked proxy', revoked, /the thrown value cannot be read/],
  ['an error that caused itself', ring, /^a ring$/],
  ['a lone surrogate', () => new Error('\ud800'), /^\ufffd$/],
  ['a million characters', () => new Error('x'.repeat(1_000_000)), /^x{3999}…$/],
];

const once = { retry: { maxAttempts: 1 } };
const failed = (message: RegExp) => ({
  status: 'failed',
  error: { code: 'STEP_FAILED', stepId: 'a', message: expect.stringMatching(message) },
});

describe.each(ODD)('%s', (_, thrown, expected) => {
  test('thrown by a body fails its step', async () => {
    const { state } = await ran((step) => ({
      a: step('a', once, () => {
        throw thrown();
      }),
    }));
    expect(state).toMatchObject(failed(expected));
  });

  test('thrown by a condition, a list or a question fails the step', async () => {
    const throws = () => {
      throw thrown();
    };
    const ways = [
      await ran((step) => ({ a: step('a', { when: throws }, () => 1) })),
      await ran((step) => ({ a: step.map('a', { over: throws }, () => 1) })),
      await ran((step) => ({ a: step.approval('a', { ask: throws }) })),
      await ran((step) => ({ a: step.event('a', { event: 'e', key: throws }) })),
      await ran((step) => ({ a: step.sleep('a', { for: throws }) })),
    ];
    for (const { state } of ways) expect(state).toMatchObject(failed(expected));
  });
});

test('the trace of a failed step has the causes of the error, and its message is that of the author', async () => {
  const { state } = await ran((step) => ({
    a: step('a', once, () => {
      throw new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED 10.0.0.1:5432') });
    }),
  }));
  expect(state).toMatchObject(failed(/^fetch failed$/));
  expect(state.error?.trace).toMatch(/\ncaused by: Error: connect ECONNREFUSED 10\.0\.0\.1:5432\n/);
});

test('a retry predicate that throws matches no error: the step is retried by its own policy', async () => {
  const attempts: number[] = [];
  const match = (error: unknown) => (error as { readonly deep: { readonly code: string } }).deep.code === 'x';
  const { state } = await ran((step) => ({
    a: step(
      'a',
      { retry: { maxAttempts: 2, initialMs: 0, perError: [{ match, maxAttempts: 9 }] } },
      ({ attempt }) => {
        attempts.push(attempt);
        throw new Error('no');
      },
    ),
  }));
  expect(state).toMatchObject(failed(/^no$/));
  expect(attempts).toEqual([1, 2]);
});

test('a policy that throws a value without a text is asked again, and the run is deferred', async () => {
  const requests: string[] = [];
  const policy = ({ at }: { readonly at: string }) => {
    requests.push(at);
    if (requests.length < 3) throw Object.create(null);
    return { allowed: true, policySnapshotId: 'p1' };
  };
  const { state } = await ran((step) => ({ a: step('a', () => 1) }), { policy });
  expect(state.status).toBe('completed');
  expect(requests).toHaveLength(3);
});

describe('a promise that a body does not await', () => {
  const act = defineCapability({
    id: 'act',
    sideEffects: 'external_action',
    idempotency: 'required',
    request: z.object({}),
    response: z.unknown(),
  });

  /** Unhandled rejections during the work. Each would end the process, and other runs in it. */
  async function unhandledIn(work: () => Promise<unknown>): Promise<unknown[]> {
    const unhandled: unknown[] = [];
    const note = (error: unknown) => void unhandled.push(error);
    process.on('unhandledRejection', note);
    try {
      await work();
      // Node reports them once all pending promises have run.
      await new Promise((resolve) => setImmediate(resolve));
    } finally {
      process.off('unhandledRejection', note);
    }
    return unhandled;
  }

  test('leaves no unhandled rejection, which would end the process', async () => {
    let calls = 0;
    const call = async () => {
      calls += 1;
      if (calls === 1) throw new Error('no');
    };
    const binding = defineBinding(act, { id: 'b', call });
    const workflow = workflowOf((step) => ({
      a: step('a', { retry: { initialMs: 0 }, uses: [act] }, async ({ perform, memo }) => {
        void memo('', () => 1);
        void memo('m', () => Promise.reject(new Error('no')));
        void perform(act, null as unknown as object);
        void perform({ ...act, id: 'undeclared' }, {});
        void perform(act, {});
        return 1;
      }),
    }));
    const world = new World({ workflows: [workflow], bindings: [binding] });
    const runId = await world.start('w');
    expect(await unhandledIn(() => world.run())).toEqual([]);
    // An effect in doubt after the first attempt is resolved after the second.
    expect(assertStored(world.db, runId).status).toBe('completed');
    expect(calls).toBe(2);
  });
});

test.each<[string, () => unknown]>([
  ['nothing', () => undefined],
  ['an empty text', () => ''],
  ['an object without a question', () => ({ details: 1 })],
  ['a question that is no text', () => ({ question: { text: 'Shall it?' } })],
  ['a list', () => ['Shall it?']],
])('an approval that asks %s fails its step: nobody could answer', async (_, ask) => {
  const { state } = await ran((step) => ({ a: step.approval('a', { ask: ask as () => string }) }));
  expect(state).toMatchObject({ status: 'failed', error: { code: 'INVALID_INPUT', stepId: 'a' } });
});
