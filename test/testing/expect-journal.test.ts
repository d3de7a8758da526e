import { beforeAll, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { degraded } from '../../packages/cairn/src/engine/define/body-result.ts';
import { defineWorkflow } from '../../packages/cairn/src/engine/define/workflow.ts';
import {
  createTestRuntime,
  expectJournal,
  type JournalExpectations,
  JournalMismatch,
  type TestRun,
} from '../../packages/cairn/src/testing/index.ts';

const mixed = defineWorkflow({
  type: 'mixed',
  planVersion: 1,
  input: z.object({}),
  steps(step) {
    const first = step('first', () => 1);
    const retried = step('retried', { needs: { first }, retry: { maxAttempts: 2 } }, ({ attempt }) => {
      if (attempt === 1) throw new Error('not yet');
      return 2;
    });
    const poor = step('poor', { needs: { retried } }, () => degraded(3, 'half of it was missing'));
    const left = step('left', { needs: { poor }, when: () => false }, () => 4);
    const doomed = step('doomed', { needs: { left }, ifSkipped: 'run', retry: { maxAttempts: 1 } }, () => {
      throw new Error('no\nmore');
    });
    return { doomed };
  },
});

let run: TestRun;
let unfinished: TestRun;

beforeAll(async () => {
  const runtime = createTestRuntime({ workflows: [mixed] });
  run = await runtime.start('mixed');
  unfinished = await runtime.start('mixed');
  await runtime.runToEnd(run);
});

describe('an expectation that holds', () => {
  test('can be followed by another', () => {
    expect(run.error()?.code).toBe('STEP_FAILED');
    expectJournal(run.journal())
      .toHaveRun('first')
      .toHaveRun('first', 1)
      .toHaveRun('retried', 2)
      .notToHaveRun('left')
      .notToHaveRun('nobody')
      .toHaveSkipped('left')
      .toHaveDegraded('poor')
      .toHaveFailed('doomed')
      .toHaveFailed('doomed', 'STEP_FAILED')
      .toHaveEndedInOrder('first', 'poor', 'doomed')
      .toHaveEndedInOrder()
      .toHaveCompensated()
      .toHave('step_retry_scheduled')
      .toHave('step_retry_scheduled', 1)
      .toHave('run_suspended', 0)
      .toEndAs('failed')
      .toEndAs('failed', 'STEP_FAILED');
  });
});

describe('an expectation that does not hold', () => {
  const wrong: readonly (readonly [string, (journal: JournalExpectations) => unknown, RegExp])[] = [
    ['ran', (journal) => journal.toHaveRun('left'), /'left' was expected to run; its end was step_skipped/],
    ['ran', (journal) => journal.toHaveRun('nobody'), /'nobody' was expected to run; it has not ended/],
    ['so often', (journal) => journal.toHaveRun('retried', 1), /with 1 attempt; it had 2 attempts/],
    [
      'not at all',
      (journal) => journal.notToHaveRun('first'),
      /'first' was expected not to run; it had 1 attempt/,
    ],
    ['skipped', (journal) => journal.toHaveSkipped('first'), /be skipped; its end was step_succeeded/],
    ['degraded', (journal) => journal.toHaveDegraded('first'), /be degraded; its end was step_succeeded/],
    [
      'failed',
      (journal) => journal.toHaveFailed('first'),
      /'first' was expected to fail; its end was step_succeeded/,
    ],
    [
      'failed so',
      (journal) => journal.toHaveFailed('doomed', 'X'),
      /fail with X; it failed with STEP_FAILED/,
    ],
    [
      'in order',
      (journal) => journal.toHaveEndedInOrder('poor', 'first'),
      /in the order poor, first; they ended in the order first, retried, poor, left, doomed/,
    ],
    ['undone', (journal) => journal.toHaveCompensated('first'), /compensations expected: first; got: none/],
    ['decided', (journal) => journal.toHaveDecided('left', 'approve'), /to be approve; decisions: none/],
    ['there', (journal) => journal.toHave('run_suspended'), /an event run_suspended expected; got 0/],
    ['often', (journal) => journal.toHave('run_created', 2), /2 events run_created expected; got 1/],
    ['ended', (journal) => journal.toEndAs('completed'), /to end as completed; it failed with STEP_FAILED/],
    ['ended so', (journal) => journal.toEndAs('failed', 'X'), /failed with X; it failed with STEP_FAILED/],
  ];

  test.each(wrong)('%s: reports what was expected and what is there', (_name, expectation, message) => {
    expect(() => expectation(expectJournal(run.journal()))).toThrow(JournalMismatch);
    expect(() => expectation(expectJournal(run.journal()))).toThrow(message);
  });

  test('reports that a run has not ended', () => {
    expect(() => expectJournal(unfinished.journal()).toEndAs('completed')).toThrow(/it has not ended/);
  });

  test('points at the line of the test, and shows the journal', () => {
    const error = ((): JournalMismatch => {
      try {
        expectJournal(run.journal()).toHaveSkipped('first');
      } catch (thrown) {
        return thrown as JournalMismatch;
      }
      throw new Error('it was met');
    })();
    const [line = ''] = error.stack?.match(/^\s+at .*$/m) ?? [];
    expect(line).toContain('expect-journal.test.ts');
    const shown = error.message.split('\n').slice(2);
    expect(shown).toHaveLength(run.journal().length);
    expect(shown[0]).toMatch(/^ {3}1 +\+00:00:00\.000 {2}run_created$/);
    expect(shown.join('\n')).toMatch(/step_retry_scheduled +retried STEP_FAILED: not yet/);
    expect(shown.join('\n')).toMatch(/step_succeeded +retried attempt 2/);
    expect(shown.join('\n')).toMatch(/step_degraded +poor \(half of it was missing\)/);
    expect(shown.join('\n')).toMatch(/step_failed +doomed STEP_FAILED: no$/m);
  });
});
