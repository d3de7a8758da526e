import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { BudgetQuestion, StepQuestion, Wait } from '../../../packages/cairn/src/core/run/events.ts';
import { readableValue } from '../../../packages/cairn/src/core/run/readable.ts';
import { doubtOf } from '../../../packages/cairn/src/engine/waits/question.ts';
import { type ApprovalWait, approvalBlocks } from '../../../packages/cairn/src/triggers/slack/blocks.ts';
import { MAX_VALUE_CHARS, readValue } from '../../../packages/cairn/src/triggers/slack/decision-value.ts';
import { clipped } from '../../../packages/cairn/src/triggers/slack/message.ts';

const RUN = `run_${'a'.repeat(26)}`;

function asking(question: string, stepId = 'gate', more: Partial<StepQuestion> = {}): StepQuestion {
  return {
    id: `${stepId}.1`,
    kind: 'approval',
    execution: {
      stepId,
      kind: 'approval',
      revision: 1,
      attempt: 1,
      inputsHash: 'c'.repeat(64),
      startedAt: 0,
    },
    openedAt: 0,
    detailText: JSON.stringify({ question }),
    ...more,
  };
}

/** The wait as the API and run events have it. */
const shown = (wait: Wait) => readableValue(wait) as unknown as ApprovalWait;
const blocksOf = (wait: Wait) => approvalBlocks({ runId: RUN, type: 'release', wait: shown(wait) });

describe('an open approval', () => {
  test('about the budget of a day has no button to raise it: users of Slack have no role', () => {
    const labelsOf = (more: Partial<BudgetQuestion>) =>
      blocksOf({ ...asking('More?'), purpose: 'budget', ...more } as BudgetQuestion).flatMap((block) =>
        block.type === 'actions' ? block.elements.map(({ text }) => text.text) : [],
      );
    expect(labelsOf({})).toEqual(['Raise the budget', 'Fail the step', 'Halt the run']);
    expect(labelsOf({ day: '2026-11-23' })).toEqual(['Fail the step', 'Halt the run']);
  });

  test('is shown with its question, its origin, its deadline and a button for each decision of one press', () => {
    const wait = asking('Ship <b> & go?', 'gate', { dueAt: Date.UTC(2026, 0, 1) });
    const value = (decision: string) =>
      JSON.stringify({ runId: RUN, stepId: 'gate', waitId: 'gate.1', decision });
    expect(blocksOf(wait)).toEqual([
      { type: 'section', text: { type: 'mrkdwn', text: 'Ship &lt;b&gt; &amp; go?' } },
      {
        type: 'context',
        elements: [
          {
            type: 'mrkdwn',
            text: `release · \`gate\` of run \`${RUN}\` · until <!date^1767225600^{date_short_pretty} {time}|2026-01-01T00:00:00.000Z>`,
          },
        ],
      },
      {
        type: 'actions',
        block_id: 'cairn.decide:gate.1',
        elements: [
          {
            type: 'button',
            action_id: 'cairn.decide.approve',
            text: { type: 'plain_text', text: 'Approve' },
            value: value('approve'),
            style: 'primary',
          },
          {
            type: 'button',
            action_id: 'cairn.decide.reject',
            text: { type: 'plain_text', text: 'Reject' },
            value: value('reject'),
            style: 'danger',
          },
          {
            type: 'button',
            action_id: 'cairn.decide.halt',
            text: { type: 'plain_text', text: 'Halt the run' },
            value: value('halt'),
          },
        ],
      },
    ]);
  });

  test('about a step in doubt has buttons that describe what a decision does there', () => {
    const { execution } = asking('');
    const [, , actions] = blocksOf(doubtOf({ ...execution, stepId: 'push', kind: 'step' }, 0));
    const labels = actions?.type === 'actions' ? actions.elements.map(({ text }) => text.text) : [];
    expect(labels).toEqual(['Run it again', 'Mark it as failed', 'Halt the run']);
  });

  test('without text is shown by the name of its step', () => {
    expect(blocksOf(asking(' '))[0]).toMatchObject({ text: { text: 'gate' } });
  });

  test('whose step has a name too long for a button has no buttons', () => {
    const blocks = blocksOf(asking('Ship?', '"'.repeat(800)));
    expect(blocks.map(({ type }) => type)).toEqual(['section', 'context']);
  });
});

test("stays within Slack's limits for any step and question, and each button names its question", () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 6_000 }),
    fc.nat(6_000).map((times) => '&'.repeat(times)),
    fc.nat(6_000).map((times) => '😀'.repeat(times)),
  );
  const stepId = fc.string({ minLength: 1, maxLength: 480 });
  fc.assert(
    fc.property(text, stepId, (question, id) => {
      const blocks = blocksOf(asking(question, id));
      for (const block of blocks) {
        if (block.type === 'section') {
          expect(block.text.text.length).toBeGreaterThan(0);
          expect(block.text.text.length).toBeLessThanOrEqual(3_000);
          expect(block.text.text).not.toMatch(/[<>]|&(?!amp;|lt;|gt;)/);
        }
        if (block.type !== 'actions') continue;
        expect(block.block_id.length).toBeLessThanOrEqual(255);
        expect(new Set(block.elements.map(({ action_id }) => action_id)).size).toBe(3);
        for (const { value, action_id, text } of block.elements) {
          expect(value.length).toBeLessThanOrEqual(MAX_VALUE_CHARS);
          expect(text.text.length).toBeLessThanOrEqual(75);
          const decision = action_id.slice('cairn.decide.'.length);
          expect(readValue(value)).toEqual({ runId: RUN, stepId: id, waitId: `${id}.1`, decision });
        }
      }
    }),
    { numRuns: 300 },
  );
});

test.each([
  ['abc', 3, 'abc'],
  ['abcd', 3, 'ab…'],
  ['a😀b', 3, 'a…'],
  ['😀😀', 3, '😀…'],
])('%j cut to %i characters is %j', (text, most, cut) => {
  expect(clipped(text, most)).toBe(cut);
});
