import { afterAll, describe, expect, test } from '@jest/globals';
import { MAX_REVISIONS } from '../../../packages/cairn/src/core/decisions/approval.ts';
import { MAX_DEATHS_ALONE } from '../../../packages/cairn/src/core/decisions/ending-facts.ts';
import { DEFAULT_RETRY } from '../../../packages/cairn/src/core/decisions/retry.ts';
import { MAX_STEPS } from '../../../packages/cairn/src/core/graph/graph.ts';
import {
  MAX_ITEMS,
  MAX_MEMO_NAME_BYTES,
  MAX_MEMOS,
  MAX_PAYLOAD_BYTES,
} from '../../../packages/cairn/src/core/run/limits.ts';
import type { Workflow } from '../../../packages/cairn/src/engine/define/steps.ts';
import { LONGEST_STEP_MS, PRODUCTION_SETTINGS } from '../../../packages/cairn/src/engine/settings.ts';
import { createTestRuntime, expectJournal } from '../../../packages/cairn/src/testing/index.ts';
import { readDocument, writeSnippets } from '../snippets.ts';

const snippets = writeSnippets('docs/steps.md');
afterAll(() => snippets.remove());

/** The module that docs/steps.md shows under this name. */
function shown<T>(name: string): Promise<T> {
  return import(snippets.at(`functions/src/workflows/${name}.ts`)) as Promise<T>;
}

/** A runtime with what a snippet exports: a workflow, or one made for an outside. */
async function runtimeWith(name: string, outside?: unknown, options: { patienceMs?: number } = {}) {
  const made = Object.values(await shown<Record<string, Workflow | ((outside: unknown) => Workflow)>>(name));
  const workflows = made.map((each) => (typeof each === 'function' ? each(outside) : each));
  return createTestRuntime({ workflows, ...options });
}

describe('a step', () => {
  test.each([
    { currency: 'USD', result: { rate: 0.9, price: 90 }, skipped: false },
    { currency: 'EUR', result: { rate: null, price: 100 }, skipped: true },
  ])('runs without the rate that $currency does not need', async ({ currency, result, skipped }) => {
    const runtime = await runtimeWith('quote-price', async () => 0.9);
    const run = await runtime.start('quote-price', { cents: 100, currency });
    await runtime.runToEnd(run);
    expect(await run.result()).toEqual(result);
    expect(run.step('rate').status).toBe(skipped ? 'skipped' : 'succeeded');
  });

  test('fails at once over an output that its schema refuses', async () => {
    const runtime = await runtimeWith('quote-price', async () => -1);
    const run = await runtime.start('quote-price', { cents: 100, currency: 'USD' });
    expect(await runtime.runToEnd(run)).toBe('failed');
    expect(run.calls('rate')).toBe(1);
  });

  test('is stopped at its timeout, and retried', async () => {
    const reasons: unknown[] = [];
    const rateOf = (_currency: string, signal: AbortSignal) =>
      new Promise<number>((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          reasons.push(signal.reason.why);
          reject(signal.reason);
        });
      });
    const runtime = await runtimeWith('quote-price', rateOf, { patienceMs: 0 });
    const run = await runtime.start('quote-price', { cents: 100, currency: 'USD' });
    expect(await runtime.runToEnd(run)).toBe('failed');
    expect(reasons).toEqual(Array(DEFAULT_RETRY.maxAttempts).fill('timeout'));
    expect(run.error()?.code).toBe('STEP_TIMEOUT');
  });
});

describe('a map', () => {
  const links = ['a', 'b', 'c', 'd'];

  test('has null for the items whose failure it tolerates', async () => {
    const statusOf = async (link: string) => {
      if (link === 'b') throw new Error('no route');
      return link === 'c' ? 404 : 200;
    };
    const runtime = await runtimeWith('check-links', statusOf);
    const run = await runtime.start('check-links', { links });
    await runtime.runToEnd(run);
    expect(await run.output('status')).toEqual([200, null, 404, 200]);
    expect(await run.result()).toEqual({ broken: ['b', 'c'] });
  });

  test('fails with ITEMS_FAILED on one failure more, and ends at once without items', async () => {
    const runtime = await runtimeWith('check-links', async (link: string) => {
      if (link !== 'a') throw new Error('no route');
      return 200;
    });
    const [most, none] = [
      await runtime.start('check-links', { links }),
      await runtime.start('check-links', { links: [] }),
    ];
    expect([await runtime.runToEnd(most), await runtime.runToEnd(none)]).toEqual(['failed', 'completed']);
    expect(most.error()?.code).toBe('ITEMS_FAILED');
  });
});

describe('an approval', () => {
  async function asked() {
    const published: string[] = [];
    const runtime = await runtimeWith('publish-notes', async (text: string) => void published.push(text));
    const run = await runtime.start('publish-notes', { version: '2' });
    await runtime.settle();
    return { runtime, run, published };
  }

  test('sends the draft back with feedback, asks again, and records the approver', async () => {
    const { runtime, run, published } = await asked();
    await runtime.decide(run, 'retry_with_feedback', { feedback: 'Faster.' });
    await runtime.settle();
    expect(run.waits()).toMatchObject([{ step: 'agree', details: { draft: '2: Faster.' } }]);
    await runtime.decide(run, 'approve', { by: 'u.ada' });
    expect(await runtime.runToEnd(run)).toBe('completed');
    expect(await run.result()).toEqual({ published: { agreedBy: 'u.ada' } });
    expect(published).toEqual(['2: Faster.']);
  });

  test.each([
    { decision: 'reject', status: 'failed', code: 'APPROVAL_REJECTED' },
    { decision: 'halt', status: 'cancelled', code: undefined },
  ] as const)('ends the run as $status by $decision', async ({ decision, status, code }) => {
    const { runtime, run } = await asked();
    await runtime.decide(run, decision, { note: 'no' });
    expect(await runtime.runToEnd(run)).toBe(status);
    expect(run.error()?.code).toBe(code);
  });

  test('accepts data that matches its schema, and stays open for other data', async () => {
    const paid: number[] = [];
    const runtime = await runtimeWith('refund-order', async (cents: number) => void paid.push(cents));
    const run = await runtime.start('refund-order', { order: 'A-1', paid: 900 });
    await runtime.settle();
    const refused = runtime.decide(run, 'approve', { data: { cents: -1, reason: 'why not' } });
    await expect(refused).rejects.toMatchObject({ code: 'INVALID_INPUT', field: 'data.cents' });
    const data = { cents: 400, reason: 'late' };
    await runtime.decide(run, 'approve', { data });
    expect(await runtime.runToEnd(run)).toBe('completed');
    expect(await run.result()).toEqual({ refunded: data });
    expect(paid).toEqual([400]);
  });

  test('fails at its deadline', async () => {
    const { runtime, run } = await asked();
    await runtime.advance('3d');
    expectJournal(run.journal()).notToHaveRun('publish').toEndAs('failed', 'APPROVAL_EXPIRED');
  });
});

describe('an event, and a sleep', () => {
  const paid = (cents: unknown) => ({ event: 'order.paid', key: 'o-1', data: { cents } });

  async function waiting() {
    const runtime = await runtimeWith('ship-order');
    const run = await runtime.start('ship-order', { order: 'o-1' });
    await runtime.settle();
    return { runtime, run };
  }

  test('continue with the data of the event, two hours later', async () => {
    const { runtime, run } = await waiting();
    const refused = await runtime.deliver(paid('a lot'));
    expect([refused.delivered.length, refused.refused.length]).toEqual([0, 1]);
    await runtime.deliver(paid(500));
    await runtime.advance('119m');
    expect(run.status()).toBe('waiting_external');
    await runtime.advance('1m');
    expect(await run.result()).toEqual({ shipped: 'shipped for 500' });
  });

  test('skip everything that depends on them if no event comes', async () => {
    const { runtime, run } = await waiting();
    await runtime.advance('14d');
    expectJournal(run.journal()).toHaveSkipped('paid').toHaveSkipped('pack').toHaveSkipped('ship');
    expect(await run.result()).toEqual({ shipped: null });
  });

  test('receive an event that came before', async () => {
    const runtime = await runtimeWith('ship-order');
    await runtime.deliver(paid(500));
    await runtime.advance('23h');
    const run = await runtime.start('ship-order', { order: 'o-1' });
    expect(await runtime.runToEnd(run)).toBe('completed');
  });
});

test('children give their results in the order of the items', async () => {
  const runtime = await runtimeWith('check-sites');
  const run = await runtime.start('check-sites', { sites: ['a.example', 'bb.example'] });
  expect(await runtime.runToEnd(run)).toBe('completed');
  expect(await run.result()).toEqual({ lengths: [9, 10] });
  expect(runtime.runs()).toHaveLength(3);
});

test('a body that is retried, or died, does not import the same page twice', async () => {
  const imported: number[] = [];
  let fails = true;
  const runtime = await runtimeWith('import-pages', async (page: number) => {
    if (page === 3 && fails) {
      fails = false;
      throw new Error('the line is down');
    }
    imported.push(page);
    return 10;
  });
  runtime.crashAfter('import');
  const run = await runtime.start('import-pages', { pages: 4 });
  expect(await runtime.runToEnd(run)).toBe('completed');
  expect(await run.result()).toEqual({ rows: 40 });
  expect(imported).toEqual([1, 2, 3, 4]);
  expect(runtime.logs().some(({ fields }) => fields.message === 'imported' && fields.rows === 40)).toBe(true);
});

describe('a payment', () => {
  function pretendedBank(answer: 'sent' | 'refused' = 'sent') {
    const released: string[] = [];
    const bank = {
      reserve: async () => ({ id: 'r-1', isFinal: false }),
      release: async (id: string) => void released.push(id),
      send: async () => answer,
      receipt: async () => {
        throw new Error('out of paper');
      },
    };
    return { bank, released };
  }

  test('continues with less than was requested', async () => {
    const runtime = await runtimeWith('take-payment', pretendedBank().bank);
    const run = await runtime.start('take-payment', { cents: 500 });
    expect(await runtime.runToEnd(run)).toBe('completed');
    expect(await run.result()).toEqual({ sent: 'sent', receipt: 'to follow' });
    expectJournal(run.journal()).toHaveDegraded('reserve').toHaveDegraded('receipt');
  });

  test('is undone when the bank refuses permanently', async () => {
    const { bank, released } = pretendedBank('refused');
    const runtime = await runtimeWith('take-payment', bank);
    const run = await runtime.start('take-payment', { cents: 500 });
    expect(await runtime.runToEnd(run)).toBe('failed');
    expect([run.calls('send'), released]).toEqual([1, ['r-1']]);
  });

  test('asks a person after a crash, and is undone if nobody answers within a day', async () => {
    const { bank, released } = pretendedBank();
    const runtime = await runtimeWith('take-payment', bank);
    const run = await runtime.start('take-payment', { cents: 500 });
    runtime.crashAfter('send');
    await runtime.advance('1h');
    expect(run.waits()).toMatchObject([{ step: 'send', kind: 'approval' }]);
    await runtime.advance('23h');
    expect(run.calls('send')).toBe(1);
    expect(released).toEqual(['r-1']);
    expectJournal(run.journal()).toHaveCompensated('reserve').toEndAs('failed', 'RUN_TIMEOUT');
  });

  test('continues after a crash if a person confirms that it was sent', async () => {
    const runtime = await runtimeWith('take-payment', pretendedBank().bank);
    const run = await runtime.start('take-payment', { cents: 500 });
    runtime.crashAfter('send');
    await runtime.advance('1h');
    await runtime.decide(run, 'approve_with_waiver', { note: 'it is on the statement' });
    expect(await runtime.runToEnd(run)).toBe('completed');
    expect(await run.result()).toEqual({ sent: null, receipt: 'to follow' });
  });
});

const en = (count: number) => count.toLocaleString('en-US');
const { stepTimeoutMs, leaseMs, heartbeatMs, graceMs, concurrentSteps, shortRetryMs } = PRODUCTION_SETTINGS;

test.each([
  `at most ${concurrentSteps} bodies per run`,
  `at most ${en(MAX_STEPS)} steps`,
  `at most ${MAX_PAYLOAD_BYTES / 2 ** 20} MiB each`,
  `| \`timeout\` | ${stepTimeoutMs / 1_000} s | limit of one attempt; at most ${LONGEST_STEP_MS / 1_000} s to fit one dispatch`,
  `| \`retry\` | ${DEFAULT_RETRY.maxAttempts} attempts |`,
  `| \`maxAttempts\` | ${DEFAULT_RETRY.maxAttempts} |`,
  `| ${en(DEFAULT_RETRY.initialMs)}, ${DEFAULT_RETRY.factor}, ${en(DEFAULT_RETRY.capMs)} |`,
  `a list of at most ${en(MAX_ITEMS)}`,
  `At most ${MAX_REVISIONS - 1} times`,
  `${en(MAX_MEMOS)} per step; names have at most 200 characters and ${MAX_MEMO_NAME_BYTES} bytes`,
  `they may be ${heartbeatMs / 1_000} s old`,
  `has ${{ 8000: 'eight' }[graceMs]} more seconds to end`,
  `with delays of at most ${{ 5000: 'five' }[shortRetryMs]} seconds`,
  `lease ends, ${leaseMs / 1_000} s after the last heartbeat; heartbeats are sent every ${heartbeatMs / 1_000} s`,
  `after ${{ 3: 'three' }[MAX_DEATHS_ALONE]} deaths at the same step`,
])('docs/steps.md states the limit of the engine: %s', (claim) => {
  // Wherever the lines are broken.
  const flat = (text: string) => text.replace(/\s+/g, ' ');
  expect(flat(readDocument('docs/steps.md'))).toContain(flat(claim));
});
