/** Small workflows of which the tests of the test kit watch every call. */
import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { defineWorkflow } from '../../packages/cairn/src/engine/define/workflow.ts';

/** Two quick steps, a nap between them. */
export const nap = defineWorkflow({
  type: 'nap',
  planVersion: 1,
  input: z.object({ for: z.string().default('24h') }),
  steps(step) {
    const before = step('before', () => 'tired');
    const pause = step.sleep('pause', { needs: { before }, for: ({ input }) => input.for });
    const after = step('after', { needs: { before, pause } }, ({ before }) => `not ${before}`);
    return { after };
  },
});

/** A chain of three, whose middle fails as often as the input says. */
export const shaky = defineWorkflow({
  type: 'shaky',
  planVersion: 1,
  input: z.object({ failures: z.number().default(0), idempotent: z.boolean().default(true) }),
  steps(step) {
    const first = step('first', () => 1);
    const middle = step('middle', { needs: { first }, retry: { maxAttempts: 3 } }, (context) => {
      if (context.attempt <= context.input.failures) throw new Error(`attempt ${context.attempt} failed`);
      context.log('it worked', { attempt: context.attempt });
      return context.first + 1;
    });
    const last = step('last', { needs: { middle } }, ({ middle }) => middle + 1);
    return { last };
  },
});

/** A body that must not be repeated. */
export const once = defineWorkflow({
  type: 'once',
  planVersion: 1,
  input: z.object({}),
  steps: (step) => ({ paid: step('pay', { idempotent: false }, () => 'paid') }),
});

/** A body that really takes time: it reads a file. */
export const reader = defineWorkflow({
  type: 'reader',
  planVersion: 1,
  input: z.object({ file: z.string() }),
  steps: (step) => ({
    length: step('read', { timeout: '1s' }, async ({ input }) => (await readFile(input.file, 'utf8')).length),
  }),
});

/** A body that never ends by itself. */
export const stuck = defineWorkflow({
  type: 'stuck',
  planVersion: 1,
  input: z.object({}),
  steps: (step) => ({
    end: step(
      'hang',
      { timeout: '1m', retry: { maxAttempts: 2 } },
      ({ signal }) =>
        new Promise<never>((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
        }),
    ),
  }),
});

/** Asks a person, then waits for an event, and takes back what it did if it ends badly. */
export const gated = defineWorkflow({
  type: 'gated',
  planVersion: 1,
  input: z.object({ order: z.string().default('o-1'), fails: z.boolean().default(false) }),
  steps(step) {
    const draft = step('draft', { compensate: () => undefined }, ({ input, feedback, revision }) => ({
      order: input.order,
      revision,
      ...(feedback === undefined ? {} : { feedback }),
    }));
    const gate = step.approval('gate', {
      needs: { draft },
      ask: ({ draft }) => ({ question: `Order ${draft.order}?`, details: { revision: draft.revision } }),
      timeout: '24h',
    });
    const book = step('book', { needs: { gate }, compensate: () => undefined }, () => 'booked');
    const paid = step.event('paid', {
      needs: { book },
      event: 'order.paid',
      key: ({ input }) => input.order,
      output: z.object({ amount: z.number() }),
      timeout: '7d',
    });
    const ship = step('ship', { needs: { draft, paid } }, ({ draft, paid, input }) => {
      if (input.fails) throw new Error('no parcel today');
      return { ...draft, amount: paid.amount };
    });
    return { ship };
  },
});

/** Runs `gated` as a child, and a map beside it. */
export const parent = defineWorkflow({
  type: 'parent',
  planVersion: 1,
  input: z.object({ items: z.array(z.number()) }),
  steps(step) {
    const squares = step.map(
      'square',
      { over: ({ input }) => input.items, completion: { tolerate: 1 }, retry: { maxAttempts: 1 } },
      ({ item }) => {
        if (item < 0) throw new Error('negative');
        return item * item;
      },
    );
    const child = step.child('child', {
      workflow: gated,
      needs: { squares },
      input: () => ({ order: 'c-1' }),
    });
    return { squares, child };
  },
});
