import { afterAll, expect, test } from '@jest/globals';
import type { Binding } from '../../../packages/cairn/src/engine/define/capability.ts';
import type { Workflow } from '../../../packages/cairn/src/engine/define/steps.ts';
import { createTestRuntime } from '../../../packages/cairn/src/testing/index.ts';
import { writeSnippets } from '../snippets.ts';

const snippets = writeSnippets('docs/coming-from.md');
afterAll(() => snippets.remove());

interface Cards {
  charge(order: string, cents: number, key: string): Promise<string>;
  refund(chargeId: string): Promise<void>;
}

interface Shown {
  readonly fulfilOrder: (cards: Cards) => Workflow;
  readonly chargeBy: (cards: Cards) => Binding;
}

/** Runtime with a card issuer that deduplicates by key. */
async function runtimeWith(charged: Map<string, string>, refunded: string[]) {
  const { fulfilOrder, chargeBy } = (await import(
    snippets.at('functions/src/workflows/fulfil-order.ts')
  )) as Shown;
  const cards: Cards = {
    charge: async (order, cents, key) => {
      charged.set(key, `${order}:${cents}`);
      return `charge-${order}`;
    },
    refund: async (chargeId) => {
      refunded.push(chargeId);
    },
  };
  return createTestRuntime({ workflows: [fulfilOrder(cards)], bindings: [chargeBy(cards)] });
}

test('the order of docs/coming-from.md is charged once and shipped, although its process dies', async () => {
  const charged = new Map<string, string>();
  const refunded: string[] = [];
  const runtime = await runtimeWith(charged, refunded);
  runtime.crashAfter('charge');
  const run = await runtime.start('fulfil-order', { order: 'o-1', cents: 500 });
  await runtime.deliver({ event: 'parcel.packed', key: 'o-1', data: { parcel: 'p-1' } });
  expect(await runtime.runToEnd(run)).toBe('completed');
  expect(await run.result()).toEqual({ shipped: 'shipped p-1' });
  expect([...charged.values()]).toEqual(['o-1:500']);
  expect(refunded).toEqual([]);
});

test('the order of docs/coming-from.md is refunded after two days without a parcel', async () => {
  const refunded: string[] = [];
  const runtime = await runtimeWith(new Map(), refunded);
  const run = await runtime.start('fulfil-order', { order: 'o-2', cents: 500 });
  await runtime.advance('2d');
  expect(await runtime.runToEnd(run)).toBe('failed');
  expect(refunded).toEqual(['charge-o-2']);
});
