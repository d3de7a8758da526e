/**
 * Code of a project that installed the packages, right and wrong. It is compiled against the sources like all else, and against
 * the published packages: each line that must not compile says so, and one that compiles is an error. The types of
 * what it exports can be declared by the names of the packages, as `declaration` and `composite` of a `tsconfig.json` require.
 */
import { CairnClient } from '@cairn/client';
import { defineBinding, defineCapability, defineWorkflow } from 'cairn';
import { createEffects } from 'cairn/effects';
import cairnLint from 'cairn/eslint';
import { cairnFunctions } from 'cairn/functions';
import { firestoreIndexes } from 'cairn/indexes';
import { createTestRuntime, defineSweep } from 'cairn/testing';
import type { Linter } from 'eslint';
import { defineSecret } from 'firebase-functions/params';
import { z } from 'zod';

const STRIPE_KEY = defineSecret('STRIPE_KEY');

export const charge = defineCapability({
  id: 'shop.charge',
  sideEffects: 'external_action',
  idempotency: 'required',
  request: z.object({ cents: z.number() }),
  response: z.object({ chargeId: z.string() }),
});

export const order = defineWorkflow({
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

const hidden: unique symbol = Symbol('hidden');
class Money {
  cents = 1;
  plus(cents: number): number {
    return this.cents + cents;
  }
}
interface Tree {
  readonly name: string;
  readonly kids: readonly Tree[];
  readonly above?: Tree | undefined;
}
interface DatedTree {
  readonly at: Date;
  readonly kids: readonly DatedTree[];
}
type Id = string & { readonly __brand: 'id' };
const Parsed = z.object({
  kind: z.union([
    z.object({ k: z.literal('a'), text: z.string() }),
    z.object({ k: z.literal('b'), list: z.array(z.number()) }),
  ]),
  record: z.record(z.string(), z.number()),
  nothing: z.null(),
  maybe: z.string().nullish(),
  id: z.string().brand<'Id'>(),
  json: z.json(),
});
const Branded = z.object({ a: z.string() }).brand<'Branded'>();
interface Values {
  readonly tree: Tree;
  readonly dated: DatedTree;
  readonly id: Id;
  readonly parsed: z.infer<typeof Parsed>;
  readonly branded: z.infer<typeof Branded>;
  readonly named: { readonly name: string; readonly message: string };
  readonly either: { readonly ok: true; readonly text: string } | { readonly ok: false };
  readonly partly: { a?: string; b: 'x' | null; c: readonly [string, number]; d: string | undefined };
  readonly mixed: { readonly at: string } | { readonly at: Date };
  readonly optional: { f?: () => void };
  readonly keyed: { readonly [hidden]: number };
  readonly unknown: Record<string, unknown>;
}

/** Types of outputs: what JSON keeps, and what it does not. No body of it runs. */
export const outputs = (values: Values) =>
  defineWorkflow({
    type: 'outputs',
    planVersion: 1,
    input: z.object({}),
    steps: (step) => {
      step('tree', () => values.tree);
      step('id', () => ({ id: values.id }));
      step('parsed', async () => values.parsed);
      step('branded', () => [values.branded]);
      step('named', () => values.named);
      step('either', () => values.either);
      step('partly', () => values.partly);
      step('null', () => null);
      step('undefined', () => undefined);
      step('maybe', async (): Promise<string | undefined> => undefined);
      step('unknown', () => values.unknown);

      // @ts-expect-error -- a function is lost
      step('function', () => () => 1);
      // @ts-expect-error -- also as a member
      step('member', () => ({ f: () => 1 }));
      // @ts-expect-error -- also as an optional one
      step('optional', () => values.optional);
      // @ts-expect-error -- so is a class
      step('class', () => ({ Money }));
      // @ts-expect-error -- and the methods of an instance
      step('instance', () => new Money());
      // @ts-expect-error -- an Error becomes an empty object
      step('error', () => new Error('no'));
      // @ts-expect-error -- also one of another class, inside
      step('inner-error', () => ({ error: new TypeError('no') }));
      // @ts-expect-error -- a symbol is lost
      step('symbol', () => Symbol('a'));
      // @ts-expect-error -- so is a member named by one
      step('symbol-key', () => ({ inside: values.keyed }));
      // @ts-expect-error -- a WeakMap becomes an empty object
      step('weak-map', () => new WeakMap());
      // @ts-expect-error -- bytes become an object of numbers
      step('bytes', () => new Uint8Array(1));
      // @ts-expect-error -- a type that contains itself is looked through
      step('dated', () => values.dated);
      // @ts-expect-error -- so is each of a union
      step('mixed', () => values.mixed);
      // @ts-expect-error -- an output that is waited for is looked at as well
      step('async', async () => ({ at: new Date() }));
      return { end: step('end', () => 1) };
    },
  });

// @ts-expect-error -- there is no such option
defineWorkflow({ type: 'a', planVersion: 1, input: z.object({}), step: () => ({}) });

export const agent = defineWorkflow({
  type: 'agent',
  planVersion: 1,
  input: z.object({ question: z.string() }),
  uses: [charge],
  answers: { refund: z.object({ cents: z.number() }) },
  compensate: {
    paid: ({ output, input }) => void [output, input.question],
    told: { undo: ({ output, input }) => void [output, input.question], retry: { maxAttempts: 3 } },
  },
  run: async (flow, { question }) => {
    const length: number = await flow.step('count', ({ input }) => input.question.length);
    const { chargeId } = await flow.perform(charge, { cents: length });
    const doubled: number[] = await flow.map('double', [1, 2], ({ item, index }) => item * index);
    const answer = await flow.event<{ text: string }>('told', { key: question });
    const { decision } = await flow.approval('allow', { question, details: { chargeId } });
    const refunded: number = (await flow.approval('refund', 'Refund?')).data.cents;
    // @ts-expect-error -- this approval has no schema
    (await flow.approval('allow', 'Again?')).data;
    const child = await flow.child('order', order, { cents: await flow.now(), at: answer.text });
    await flow.sleep('rest', '1h');
    // @ts-expect-error -- a Date does not survive as JSON
    await flow.step('date', () => new Date());
    // @ts-expect-error -- the request of the capability has another member
    await flow.perform(charge, { euros: 1 });
    // @ts-expect-error -- an event is found by its key
    await flow.event('told', {});
    // @ts-expect-error -- the child takes another input
    await flow.child('order', order, { euros: 1 });
    // @ts-expect-error -- there is no such option
    await flow.step('option', () => 1, { idempotent: false });
    return { decision, sizes: child.sizes, doubled, refunded };
  },
});

export const outer = defineWorkflow({
  type: 'outer',
  planVersion: 1,
  input: z.object({ n: z.number() }),
  steps: (step) => {
    const before = step('before', ({ input }) => input.n);
    const main = step.flow('main', { needs: { before } }, async (flow, { input, before }) => {
      const sum: number = await flow.step('sum', () => input.n + before);
      return { sum };
    });
    step.child('agent', { workflow: agent, input: () => ({ question: 'why?' }) });
    // @ts-expect-error -- what the code returns is JSON
    step.flow('date', {}, async () => new Date());
    // @ts-expect-error -- a flow has no body of its own to poll
    step.flow('poll', { poll: { within: '1h' } }, async () => 1);
    return { after: step('after', { needs: { main } }, ({ main }) => main.sum) };
  },
});

// @ts-expect-error -- a workflow is a graph or one flow
defineWorkflow({ type: 'both', planVersion: 1, input: z.object({}), run: async () => 1, steps: () => ({}) });

export const bindings = [
  defineBinding(charge, { id: 'stripe', call: async () => ({ chargeId: STRIPE_KEY.value() }) }),
];

export const cairn = cairnFunctions({ workflows: [order], bindings, secrets: [STRIPE_KEY], github: true });
export const installation = cairnFunctions({
  workflows: [order],
  github: { tenant: 'acme' },
  slack: true,
  topics: ['parcels'],
  drives: { video: { workflows: ['order'] } },
});
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

export const placed = () => cairn.start('order', { cents: 1, at: 'now' }, { tenantId: 'acme' });
export const resultOf = (runId: string) => cairn.result(runId, { tenantId: 'acme' });

/** Approvals with what was answered. */
export const approved = defineWorkflow({
  type: 'approved',
  planVersion: 1,
  input: z.object({}),
  steps: (step) => ({ allow: step.approval('allow', { ask: () => 'Allow?' }) }),
});

export const rehearsal = () => createTestRuntime({ workflows: [order], bindings });
export const rehearsed = () => rehearsal().start('order', { cents: 1, at: 'now' });
export const swept = defineSweep({
  name: 'orders',
  arrange: () => ({ workflows: [order], perform: async () => {}, actions: () => [] }),
});
export const effects = createEffects({ tenantId: 'shop', bindings });
export const lint = cairnLint;

export async function rehearse(): Promise<void> {
  const runtime = createTestRuntime({ workflows: [order], bindings });
  const run = await runtime.start('order', { cents: 1, at: 'now' });
  // @ts-expect-error -- a workflow is started by its type
  await runtime.start(order, { cents: 1, at: 'now' });
  void run.journal();
}

export const prefixed: string | undefined = firestoreIndexes('cairn_').indexes[0]?.collectionGroup;

export async function chargeOnce(): Promise<string> {
  const { chargeId } = await effects.once('order-7', charge, { cents: 1 });
  // @ts-expect-error -- the request of the capability has another member
  await effects.once('order-7', charge, { euros: 1 });
  return chargeId;
}

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

/** As in `eslint.config.js`. */
export const lintConfig: readonly Linter.Config[] = [
  { ...cairnLint.configs.recommended, files: ['**/*.js'] },
];
