import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { budgetOf, longestStepIn } from '../../../packages/cairn/src/core/drive-time.ts';
import { defineBinding, defineCapability } from '../../../packages/cairn/src/engine/define/capability.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { cairnFunctions } from '../../../packages/cairn/src/platform/installation/cairn-functions.ts';
import {
  assertDrivesFit,
  deletionGraceMs,
  driveTimeoutS,
  poolsOf,
} from '../../../packages/cairn/src/platform/installation/drive-classes.ts';
import { assertApart } from '../../../packages/cairn/src/platform/installation/store-location.ts';

const endpointOf = (made: unknown) =>
  (made as { __endpoint: Record<string, unknown> }).__endpoint as {
    readonly secretEnvironmentVariables?: readonly { readonly key: string }[];
    readonly timeoutSeconds?: number;
    readonly concurrency?: number;
    readonly availableMemoryMb?: number;
    readonly minInstances?: number;
    readonly region?: readonly unknown[];
  };
const workflows = () => [];

// @ts-expect-error the option does not exist, here and below
const secret = () => cairnFunctions({ workflows, secret: [] });
// @ts-expect-error
const memroy = () => cairnFunctions({ workflows, drive: { memroy: '2GiB' } });
// @ts-expect-error
const tenats = () => cairnFunctions({ workflows, github: { tenats: '' } });
// @ts-expect-error
const teams = () => cairnFunctions({ workflows, slack: { teams: '' } });
const own = { workflows: ['video'], timeout: 9 };
// @ts-expect-error
const timeout = () => cairnFunctions({ workflows, drives: { own } });
// @ts-expect-error
const nothing = () => cairnFunctions({});

describe('unknown options', () => {
  test.each([
    [secret, "unknown option 'secret'. Did you mean 'secrets'?"],
    [memroy, "unknown option 'memroy'. Did you mean 'memory'?"],
    [tenats, "unknown option 'tenats'. Did you mean 'tenants'?"],
    [teams, "unknown option 'teams'. There are: tenants."],
    [timeout, "unknown option 'timeout'"],
    [nothing, "'workflows' must be a list of workflows"],
  ])('do not compile, and are refused with a suggestion', (make, why) => {
    expect(make).toThrow(why);
  });

  test.each([
    [59, 'drive.timeoutSeconds is 59'],
    [1_801, 'from 60 to 1800'],
    [90.5, 'an integer'],
  ])('a drive of %d s is refused', (timeoutSeconds, why) => {
    expect(() => cairnFunctions({ workflows, drive: { timeoutSeconds } })).toThrow(why);
  });

  test('two drives for one workflow are refused, and ambiguous names of drives', () => {
    const one = { workflows: ['video'] };
    expect(() => cairnFunctions({ workflows, drives: { a: one, b: one } })).toThrow(
      "'video' is in two drives, 'a' and 'b'",
    );
    expect(() => cairnFunctions({ workflows, drives: { aAlone: one } })).toThrow(
      "'aAlone' is not a valid name",
    );
  });
});

describe('an option that is absent', () => {
  const made = cairnFunctions({ workflows, region: 'europe-west1' });

  test('has no function', () => {
    const endpoints = Object.entries(made).filter(([, one]) => endpointOf(one) !== undefined);
    expect(endpoints.map(([name]) => name).sort()).toEqual([
      'api',
      'checkRuns',
      'deleteExpired',
      'drive',
      'driveAlone',
      'fireSchedules',
      'recoverRuns',
    ]);
    // @ts-expect-error the compiler does not know it either
    expect(made.githubWebhook).toBeUndefined();
  });

  test('has no secret', () => {
    for (const each of Object.values(made))
      expect(endpointOf(each)?.secretEnvironmentVariables ?? []).toEqual([]);
  });
});

test('secrets are bound only to the functions that run bodies', () => {
  const made = cairnFunctions({
    workflows,
    secrets: ['STRIPE_KEY'],
    github: true,
    drives: { video: { workflows: ['video'] } },
  });
  const bound = Object.entries(made).flatMap(([name, one]) => {
    const keys = endpointOf(one)?.secretEnvironmentVariables?.map(({ key }) => key) ?? [];
    return keys.includes('STRIPE_KEY') ? [`${name} ${keys.join(' ')}`] : [];
  });
  expect(bound.sort()).toEqual([
    'drive STRIPE_KEY GITHUB_TOKEN',
    'driveAlone STRIPE_KEY GITHUB_TOKEN',
    'driveVideo STRIPE_KEY GITHUB_TOKEN',
    'driveVideoAlone STRIPE_KEY GITHUB_TOKEN',
  ]);
});

test('a separate drive leaves the others unchanged', () => {
  const { drive, driveAlone, driveVideo, driveVideoAlone } = cairnFunctions({
    workflows,
    drive: { concurrency: 20, minInstances: 1 },
    drives: { video: { workflows: ['video'], memory: '8GiB', timeoutSeconds: 1_800, concurrency: 1 } },
  });
  const seen = (made: unknown) => {
    const { timeoutSeconds, concurrency, availableMemoryMb } = endpointOf(made);
    return [timeoutSeconds, concurrency, availableMemoryMb];
  };
  expect(seen(drive)).toEqual([540, 20, 1_024]);
  expect(endpointOf(drive).minInstances).toBe(1);
  expect(seen(driveAlone)).toEqual([540, 1, 1_024]);
  expect(seen(driveVideo)).toEqual([1_800, 1, 8_192]);
  expect(seen(driveVideoAlone)).toEqual([1_800, 1, 8_192]);
});

describe('the timeout of drives as a parameter', () => {
  const given = (text: string, options: object) => {
    process.env.DRIVE_TIMEOUT_SECONDS = text;
    try {
      return driveTimeoutS(options, undefined);
    } finally {
      delete process.env.DRIVE_TIMEOUT_SECONDS;
    }
  };

  test('applies where parameters are declared and the code sets none, as for the function itself', () => {
    expect(given('1200', { parameters: true })).toBe(1_200);
    expect(given('1200', {})).toBe(540);
    expect(given('1200', { parameters: true, drive: { timeoutSeconds: 90 } })).toBe(90);
    expect(driveTimeoutS({ parameters: true }, undefined)).toBe(540);
  });

  test('is refused with its name if no dispatch could use it', () => {
    for (const text of ['59', '1801', '0', '-1'])
      expect(() => given(text, { parameters: true })).toThrow(`DRIVE_TIMEOUT_SECONDS is ${text}`);
  });
});

function failing(call: () => void): string {
  try {
    call();
  } catch (error) {
    return String(error);
  }
  throw new Error('nothing was thrown');
}

describe('drives', () => {
  const stepOf = (type: string, timeout: string) =>
    defineWorkflow({
      type,
      planVersion: 1,
      input: z.object({}),
      steps: (step) => ({ only: step('only', { timeout }, () => 1) }),
    });
  const installed = [stepOf('video', '25m'), stepOf('order', '1m')];
  const video = { workflows: ['video'], timeoutSeconds: 1_800 };

  test('are refused for steps that may take longer than their budget', () => {
    expect(() => assertDrivesFit({}, installed)).toThrow("step 'only' of 'video' has a timeout of 25m, but");
    expect(() => assertDrivesFit({ drives: { video } }, installed)).not.toThrow();
    expect(() => assertDrivesFit({ drive: { timeoutSeconds: 1_800 } }, installed)).not.toThrow();
  });

  test('are refused with the times of the step and of its dispatch', () => {
    const overMs = longestStepIn(budgetOf(540)) + 5;
    const message = failing(() => assertDrivesFit({}, [stepOf('video', `${overMs}ms`)]));
    const [, asked, allowed] = /timeout of (.*), but its dispatch allows ([^.]*)\./.exec(message) ?? [];
    expect(asked).toBe(`${allowed} 5ms`);
  });

  test('are refused for missing workflows', () => {
    const drives = { video, image: { workflows: ['imgae'] } };
    expect(() => assertDrivesFit({ drives }, installed)).toThrow("'imgae', which is not installed");
  });

  test('are found by the type of the workflow', () => {
    const poolOf = poolsOf({ drives: { slow: video } });
    expect([poolOf?.('video'), poolOf?.('order')]).toEqual(['slow', undefined]);
    expect(poolsOf({})).toBeUndefined();
  });

  test('delay deletions for longer than they last', () => {
    expect(deletionGraceMs({})).toBe(900_000);
    expect(deletionGraceMs({ drives: { video } })).toBeGreaterThan(1_800_000);
  });
});

test('two installations that keep their runs in the same place are refused', () => {
  const named = (drive: string, collectionPrefix?: string) => ({
    installation: {
      options: { workflows, ...(collectionPrefix === undefined ? {} : { collectionPrefix }) },
      members: {},
    },
    drive,
  });
  expect(() => assertApart([named('shop-drive'), named('blog-drive')])).not.toThrow();
  expect(() => assertApart([named('shop-drive', 'gwi_'), named('drive')])).toThrow(
    "the installations of 'shop-drive' and 'drive' both use the database '(default)' with the prefix 'gwi_'",
  );
});

describe('bindings', () => {
  const capability = (id: string) =>
    defineCapability({
      id,
      sideEffects: 'external_action',
      idempotency: 'required',
      request: z.object({}),
      response: z.object({}),
    });
  const using = (id: string) =>
    defineWorkflow({
      type: 'pays',
      planVersion: 1,
      input: z.object({}),
      steps: (step) => ({ done: step('charge', { uses: [capability(id)] }, () => 1) }),
    });
  const pay = defineBinding(capability('bank.pay'), { id: 'bank.test', call: async () => ({}) });

  test('that are missing are refused while the module loads, so that no deployment replaces functions that work', () => {
    expect(() => cairnFunctions({ workflows: [using('bank.pay')] })).toThrow(
      "cairnFunctions: step 'charge' of workflow 'pays' uses 'bank.pay', which has no binding. Add a binding (defineBinding)",
    );
    expect(() => cairnFunctions({ workflows: [using('bank.pay')], bindings: [pay, pay] })).toThrow(
      "cairnFunctions: capability 'bank.pay' is bound twice. Leave one",
    );
    expect(() => cairnFunctions({ workflows: [using('github.create-comment')] })).toThrow('has no binding');
  });

  test('that are given, shipped, or known only to the first request are accepted', () => {
    expect(() => cairnFunctions({ workflows: [using('bank.pay')], bindings: [pay] })).not.toThrow();
    expect(() => cairnFunctions({ workflows: [using('bank.pay')], bindings: () => [pay] })).not.toThrow();
    expect(() => cairnFunctions({ workflows: () => [using('bank.pay')] })).not.toThrow();
    expect(() => cairnFunctions({ workflows: [using('github.create-comment')], github: true })).not.toThrow();
  });
});
