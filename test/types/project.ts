/**
 * Code of a project that installed the packages, right and wrong. It is compiled against the sources like all else, and against
 * the published packages: each line that must not compile says so, and one that compiles is an error.
 */
import { CairnClient } from '@cairn/client';
import { defineBinding, defineCapability, defineWorkflow } from 'cairn';
import { cairnFunctions } from 'cairn/functions';
import { firestoreIndexes } from 'cairn/indexes';
import { createTestRuntime } from 'cairn/testing';
import { defineSecret } from 'firebase-functions/params';
import { z } from 'zod';

const STRIPE_KEY = defineSecret('STRIPE_KEY');

const charge = defineCapability({
  id: 'shop.charge',
  sideEffects: 'external_action',
  idempotency: 'required',
  request: z.object({ cents: z.number() }),
  response: z.object({ chargeId: z.string() }),
});

const order = defineWorkflow({
  type: 'order',
  planVersion: 1,
  input: z.object({ cents: z.number(), at: z.string() }),
  steps: (step) => {
    const stock = step('stock', ({ input }) => ({ reserved: input.cents > 0, note: null as string | null }));
    const paid = step('paid', { needs: { stock }, uses: [charge] }, ({ input, stock, perform }) =>
      stock.reserved ? perform(charge, { cents: input.cents }) : Promise.resolve({ chargeId: 'none' }),
    );
    const sizes = step.map(
      'sizes',
      { needs: { paid }, over: ({ paid }) => [paid.chargeId] },
      ({ item }) => item.length,
    );
    step('nothing', () => {});

    // @ts-expect-error -- it needs nothing
    step('no-need', ({ stock }) => stock);
    // @ts-expect-error -- the output has no such member
    step('wrong-member', { needs: { stock } }, ({ stock }) => stock.amount);
    // @ts-expect-error -- a step is needed by its handle
    step('wrong-need', { needs: { stock: 'stock' } }, () => 1);
    // @ts-expect-error -- a Date does not survive as JSON
    step('date', () => ({ at: new Date() }));
    // @ts-expect-error -- nor does a Map
    step('map', () => new Map([['a', 1]]));
    // @ts-expect-error -- nor a Set, deep inside
    step('set', () => ({ deep: [{ tags: new Set(['a']) }] }));
    // @ts-expect-error -- nor a bigint
    step('bigint', () => ({ cents: 1n }));
    // @ts-expect-error -- there is no such option
    step('option', { retires: 3 }, () => 1);
    // @ts-expect-error -- the request of the capability has another member
    step('request', ({ perform }) => perform(charge, { euros: 1 }));
    // @ts-expect-error -- an item is no Date either
    step.map('dates', { over: () => [1] }, () => new Date());
    return { paid, sizes };
  },
});

// @ts-expect-error -- there is no such option
defineWorkflow({ type: 'a', planVersion: 1, input: z.object({}), step: () => ({}) });

const bindings = [
  defineBinding(charge, { id: 'stripe', call: async () => ({ chargeId: STRIPE_KEY.value() }) }),
];

export const cairn = cairnFunctions({ workflows: [order], bindings, secrets: [STRIPE_KEY], github: true });
export const webhook = cairn.githubWebhook;
// @ts-expect-error -- Slack was not opted into
export const slack = cairn.slackWebhook;
// @ts-expect-error -- there is no such option
cairnFunctions({ workflows: [order], secret: [STRIPE_KEY] });
// @ts-expect-error -- nor such an amount of memory
cairnFunctions({ workflows: [order], drive: { memory: '3GB' } });

export async function place(): Promise<string> {
  const { runId } = await cairn.start('order', { cents: 1, at: 'now' }, { tenantId: 'acme' });
  // @ts-expect-error -- a run has a tenant
  await cairn.start('order', {}, {});
  return runId;
}

export async function rehearse(): Promise<void> {
  const runtime = createTestRuntime({ workflows: [order], bindings });
  const run = await runtime.start('order', { cents: 1, at: 'now' });
  // @ts-expect-error -- a workflow is started by its type
  await runtime.start(order, { cents: 1, at: 'now' });
  void run.journal();
}

export const prefixed: string | undefined = firestoreIndexes('cairn_').indexes[0]?.collectionGroup;

export async function ask(): Promise<string> {
  const client = new CairnClient({ url: 'https://runs.example.com', credential: 'key' });
  // @ts-expect-error -- there is no such path
  await client.get('/v1/nothing');
  // @ts-expect-error -- the path has a parameter
  await client.get('/v1/runs/{id}', { params: {} });
  // @ts-expect-error -- a run starts by its type
  await client.change('POST', '/v1/runs', { body: { input: {} } });
  return (await client.get('/v1/runs/{id}', { params: { id: 'a' } })).status;
}
