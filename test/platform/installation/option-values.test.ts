/** Values of options: a deployment must refuse values that would make it fail halfway, or fail the first request. */
import { createRequire } from 'node:module';
import { inspect } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import { RESET_VALUE } from 'firebase-functions/options';
import { defineInt, defineSecret, defineString } from 'firebase-functions/params';
import { z } from 'zod';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { cairnFunctions } from '../../../packages/cairn/src/platform/installation/cairn-functions.ts';
import { DRIVE_RULES, OPTION_RULES } from '../../../packages/cairn/src/platform/installation/option-rules.ts';
import type { CairnOptions } from '../../../packages/cairn/src/platform/installation/options.ts';

const workflow = (planVersion: number, timeout = '30s') =>
  defineWorkflow({
    type: 'order',
    planVersion,
    input: z.object({}),
    steps: (step) => ({ only: step('only', { timeout }, () => 1) }),
  });

const made = (options: object) => cairnFunctions(options as CairnOptions);

/** The SDK exists once for each module format. */
const { RESET_VALUE: resetOfCommonJs } = createRequire(import.meta.url)('firebase-functions/options') as {
  readonly RESET_VALUE: unknown;
};

/** Valid and invalid values of each option, by its path. */
const VALUES: Readonly<
  Record<string, { readonly good: readonly unknown[]; readonly bad: readonly unknown[] }>
> = {
  region: {
    good: ['europe-west1', 'northamerica-northeast2', defineString('MY_REGION')],
    bad: ['', 'mars', 'europe-west', 'us-central1-a', 5, ['us-central1', 'europe-west1'], {}],
  },
  database: { good: ['(default)', 'cairn', 'shop-2'], bad: ['', 'Cairn DB', 'abc', '2nd-shop', 'shop-', 7] },
  collectionPrefix: { good: ['', 'gwi_', 'shop_cairn_'], bad: ['a/b', 'Shop_', '__x__', 5] },
  environment: { good: ['staging'], bad: [5, null] },
  runEventsTopic: { good: ['', 'run-events'], bad: [true] },
  console: { good: [false], bad: ['yes', 1] },
  parameters: { good: [false], bad: ['true'] },
  managedAccount: { good: [true, false], bad: ['true', 1, {}] },
  github: { good: [true, {}, { tenant: 'acme' }], bad: ['yes', 1, []] },
  'github.tenants': { good: ['*=acme'], bad: [5, ['acme']] },
  slack: { good: [true, {}], bad: ['yes', []] },
  'slack.tenants': { good: ['T1=acme'], bad: [{}] },
  secrets: { good: [[], ['KEY'], [defineSecret('MY_KEY')]], bad: ['KEY', [5], [''], {}] },
  topics: { good: [[], ['orders', 'shop.mails']], bad: ['orders', ['bad topic!'], ['ab'], [5]] },
  bindings: { good: [[], () => []], bad: ['x', [5], {}] },
  drive: { good: [{}], bad: ['1GiB', 5, []] },
  'drive.memory': {
    good: ['512MiB', '32GiB', defineInt('MY_MEMORY'), RESET_VALUE, resetOfCommonJs],
    bad: ['3GiB', 1_024, '1gb', null, {}, ['1GiB']],
  },
  'drive.cpu': { good: [0.5, 1, 2, 8, 'gcf_gen1'], bad: [0, 3, 16, '2', Number.NaN] },
  'drive.concurrency': { good: [1, 1_000], bad: [0, 1_001, 1.5, '80'] },
  'drive.minInstances': { good: [0, 3], bad: [-1, 0.5, '1'] },
  'drive.maxInstances': { good: [1, 500], bad: [0, '10', Number.POSITIVE_INFINITY] },
  'drive.queuePlaces': { good: [1, 5_000], bad: [0, 5_001, '50'] },
  'drive.timeoutSeconds': { good: [90, 1_800], bad: [59, 1_801, '540'] },
  drives: { good: [{}], bad: [[], 'x', { big: null }, { big: 'order' }] },
  'drives.big.workflows': { good: [['order']], bad: [undefined, [], 'order', [5]] },
};

function withValue(path: string, value: unknown): object {
  const nested = path.split('.').reduceRight<unknown>((inner, name) => ({ [name]: inner }), value) as object;
  return { workflows: [workflow(1)], ...nested };
}

/** Each path with each of its values. */
const cases = (kind: 'good' | 'bad') =>
  Object.entries(VALUES).flatMap(([path, values]) =>
    values[kind].map((value) => [path, inspect(value, { depth: 0 }), value] as const),
  );

describe('the value of an option', () => {
  test.each(cases('good'))('that is valid is accepted: %s %s', (path, _, value) => {
    expect(() => made(withValue(path, value))).not.toThrow();
  });

  test.each(cases('bad'))(
    'that is invalid is refused with the name and rule of the option: %s %s',
    (path, _, value) => {
      const [option = ''] = path.split('.');
      expect(() => made(withValue(path, value))).toThrow(
        new RegExp(`^cairnFunctions: .*${option}.*(must be|is not a collection prefix)`),
      );
    },
  );

  test('is listed above for each rule', () => {
    const rules = [...Object.keys(OPTION_RULES), ...Object.keys(DRIVE_RULES).map((name) => `drive.${name}`)];
    expect(rules.filter((path) => !VALUES[path]?.good.length || !VALUES[path]?.bad.length)).toEqual([]);
  });
});

test.each([
  ['no options', undefined, 'the options are missing'],
  ['null', null, 'the options are missing'],
  ['a workflow instead of a list', { workflows: workflow(1) }, "'workflows' must be a list"],
  ['a value that is not a workflow', { workflows: [workflow(1), undefined] }, "'workflows' must be a list"],
  [
    'fewer instances than it keeps',
    { workflows: [], drive: { minInstances: 5, maxInstances: 2 } },
    'drive.minInstances is 5; it must be at most drive.maxInstances, 2',
  ],
  [
    'fewer instances by default than it keeps',
    { workflows: [], drive: { minInstances: 101 } },
    'drive.minInstances is 101; it must be at most drive.maxInstances, 100 by default',
  ],
  [
    'fewer instances of a class, which has no parameters, than it keeps',
    { workflows: [], parameters: true, drives: { big: { workflows: ['order'], minInstances: 101 } } },
    'drives.big.minInstances is 101; it must be at most drives.big.maxInstances, 100 by default',
  ],
])('%s: refused', (_, options, why) => {
  expect(() => made(options as object)).toThrow(why);
});

test.each([
  ['as many as the default allows', { drive: { minInstances: 100 } }],
  ['more than the default, with a maximum', { drive: { minInstances: 101, maxInstances: 101 } }],
  ['with a parameter as the maximum', { parameters: true, drive: { minInstances: 101 } }],
])('instances that are kept, %s: taken', (_, options) => {
  expect(() => made({ workflows: [], ...options })).not.toThrow();
});

test('a memory that is reset is left to the platform', () => {
  const { drive } = made({ workflows: [], drive: { memory: RESET_VALUE } });
  expect(JSON.parse(JSON.stringify(drive.__endpoint))).toMatchObject({ availableMemoryMb: null });
});

describe('workflows in a list', () => {
  test('are refused where the functions are defined if no request could be served', () => {
    const twice = { workflows: [workflow(1), workflow(1)] };
    expect(() => made(twice)).toThrow("'order' is given twice with version 1");
    const slow = { workflows: [workflow(1, '20m')] };
    expect(() => made(slow)).toThrow("step 'only' of 'order' has a timeout of 20m");
    const missing = { workflows: [workflow(1)], drives: { big: { workflows: ['video'] } } };
    expect(() => made(missing)).toThrow("drives.big is for the workflow 'video', which is not installed");
  });

  test('may need the time that a parameter gives, which a deployment does not know', () => {
    expect(() => made({ workflows: [workflow(1, '20m')], parameters: true })).not.toThrow();
    const drive = { timeoutSeconds: 540 };
    expect(() => made({ workflows: [workflow(1, '20m')], parameters: true, drive })).toThrow('20m');
  });

  test('of several versions are accepted', () => {
    expect(() => made({ workflows: [workflow(1), workflow(2)] })).not.toThrow();
  });
});
