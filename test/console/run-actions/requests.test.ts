import { describe, expect, test } from '@jest/globals';
import {
  DecisionBody,
  ForkBody,
  PreviewBody,
  ResolveBody,
  ResumeBody,
} from '../../../packages/cairn/src/api/openapi/schemas/bodies.ts';
import { shownAmounts } from '../../../packages/cairn/src/core/budget/given.ts';
import { assertDecisionContent } from '../../../packages/cairn/src/operations/approvals/request.ts';
import {
  bodyOfDecision,
  CHOICES,
  choicesOf,
  cliOf,
  type Filled,
  lacking,
  questionOf,
  raisableIn,
  stepsBefore,
  UNFILLED,
} from '../../../packages/console/src/pages/run/actions/decisions.ts';
import {
  askedOfEffect,
  lackOfResolution,
  RESOLUTION_CHOICES,
  resolveBody,
  resolveCli,
} from '../../../packages/console/src/pages/run/actions/resolutions.ts';
import {
  fromOf,
  previewBody,
  requestBody,
  successorCli,
  wordOf,
} from '../../../packages/console/src/pages/run/successors/request.ts';
import { readJson } from '../../../packages/console/src/parts/json-view/json-text.ts';

describe('a decision that can be sent', () => {
  const filled = (part: Partial<Filled>): Filled => ({ ...UNFILLED, ...part });

  test.each(CHOICES.approval.map(({ decision }) => decision))('is valid for the API: %s', (decision) => {
    const form = filled({ decision, note: 'because', feedback: 'other words', steps: ['draft'] });
    expect(lacking(form)).toBeUndefined();
    const body = DecisionBody.parse(bodyOfDecision(form, 'review.1'));
    expect(() => assertDecisionContent(body)).not.toThrow();
  });

  test.each([
    ['approve_with_waiver', { note: ' ' }],
    ['retry_with_feedback', { feedback: '\n', note: 'a note is none' }],
  ] as const)('is incomplete without the text that the API requires: %s', (decision, part) => {
    const form = filled({ decision, ...part });
    expect(lacking(form)).toBeDefined();
    expect(() => assertDecisionContent(bodyOfDecision(form, 'review.1'))).toThrow();
  });

  test('omits fields filled in for another answer', () => {
    const form = filled({ decision: 'reject', feedback: 'x', steps: ['draft'] });
    expect(bodyOfDecision(form, 'review.1')).toEqual({ decision: 'reject', waitId: 'review.1' });
  });

  test.each(['doubt', 'confirmation'] as const)(
    'does not mention runs or steps for an effect without a run: %s',
    (blockedBy) => {
      const choices = RESOLUTION_CHOICES[askedOfEffect(blockedBy, 'function')];
      expect(choices.map(({ outcome }) => outcome).sort()).toEqual(
        ['failed', 're-execute', 'recorded'].sort(),
      );
      for (const { verb, meaning, done } of choices)
        expect(`${verb} ${meaning} ${done}`).not.toMatch(/\b(runs?|steps?)\b/i);
    },
  );

  test('has the same content as a command', () => {
    const form = filled({ decision: 'retry_with_feedback', feedback: 'say more', steps: ['draft', 'facts'] });
    expect(cliOf('r1', 'review', bodyOfDecision(form, 'review.1'))).toEqual(
      'runs send-back r1 review --feedback|say more|--again draft --again facts --wait review.1'
        .split('|')
        .flatMap((part, at) => (at === 1 ? [part] : part.trim().split(' '))),
    );
  });

  test('raises the limits that were filled in, as numbers and a duration', () => {
    const form = filled({ raise: { usd: ' 2.5', tokens: '', wallClock: '2h' } });
    const body = DecisionBody.parse(bodyOfDecision(form, 'w1'));
    expect(body).toEqual({ decision: 'approve', waitId: 'w1', raise: { usd: 2.5, wallClock: '2h' } });
    expect(() => assertDecisionContent(body)).not.toThrow();
    expect(cliOf('r1', 'ask', body)).toEqual(
      'runs approve r1 ask --raise usd=2.5 --raise wallClock=2h --wait w1'.split(' '),
    );
    expect(bodyOfDecision({ ...form, decision: 'reject' }, 'w1')).toEqual({
      decision: 'reject',
      waitId: 'w1',
    });
  });

  test('is not sent with an amount that is not a number', () => {
    expect(lacking(filled({ raise: { tokens: '1,000' } }))).toBe('Tokens: give a number.');
    expect(lacking(filled({ decision: 'reject', raise: { tokens: '1,000' } }))).toBeUndefined();
  });

  test('raises only limits that the budget has, and says whose budget it is', () => {
    const limited = shownAmounts({ microUsd: 2e6, wallClockMs: 3_600_000 });
    const ofRun = { question: 'Raise it?', budget: { reached: ['microUsd'], limits: limited } };
    const ofDay = {
      question: 'Raise it?',
      budget: { day: '2026-01-02', limits: shownAmounts({ tokens: 9 }) },
    };
    const limits = (detail: unknown) => raisableIn(detail).map(([limit]) => limit);
    expect(limits(ofRun)).toEqual(['usd', 'wallClock']);
    expect(limits(ofDay)).toEqual(['tokens']);
    // The question is shown in part, so the API decides.
    expect(limits(undefined)).toHaveLength(5);
    const meaning = (detail: unknown) => choicesOf('budget', { detail })[0]?.meaning;
    expect(meaning(ofRun)).toContain('the workflow declares');
    expect(meaning(ofDay)).toContain('all runs of the tenant');
    const raise = shownAmounts({ microUsd: 1_500_000, tokens: 20_000, wallClockMs: 7_200_000 });
    const { budget } = ofRun;
    expect(meaning({ budget: { ...budget, raise } })).toBe(
      'Without amounts, it is raised by 1.5 US dollars and 20,000 tokens and 2h of time.',
    );
    const byOne = shownAmounts({ microUsd: 1_000_000, effects: 1 });
    expect(meaning({ budget: { ...budget, raise: byOne } })).toContain('by 1 US dollar and 1 effect.');
  });

  test('can send back any earlier step, and no other', () => {
    const nodes = [
      { id: 'a', needs: [] },
      { id: 'b', needs: ['a'] },
      { id: 'side', needs: [] },
      { id: 'ask', needs: ['b'] },
      { id: 'after', needs: ['ask'] },
    ];
    expect(stepsBefore(nodes, 'ask')).toEqual(['a', 'b']);
    const canSendBack = (before: readonly string[] | undefined) =>
      choicesOf('approval', { before }).some(({ decision }) => decision === 'retry_with_feedback');
    expect(canSendBack(stepsBefore(nodes, 'ask'))).toBe(true);
    expect(canSendBack(stepsBefore(nodes, 'a'))).toBe(false);
    // The plan is unknown, so the API decides.
    expect(canSendBack(undefined)).toBe(true);
  });

  test.each(['approval', 'doubt', 'budget'] as const)(
    'offers no answer to a %s that the API refuses',
    (asked) => {
      const all = choicesOf(asked, {}).map(({ decision }) => decision);
      for (const one of all) {
        const accepted = all.filter((other) => other !== one);
        expect(choicesOf(asked, { accepted }).map(({ decision }) => decision)).toEqual(accepted);
      }
    },
  );
});

test.each([
  ['Shall it?', { text: 'Shall it?' }],
  [{ question: 'Shall it?' }, { text: 'Shall it?' }],
  [
    { question: 'Shall it?', amount: 3 },
    { text: 'Shall it?', beside: { amount: 3 } },
  ],
  [
    { question: 'Shall it?', details: { card: 'x' } },
    { text: 'Shall it?', beside: { card: 'x' } },
  ],
  [{ question: 7 }, { text: 'Question:', beside: { question: 7 } }],
  [[1], { text: 'Question:', beside: [1] }],
  [null, { text: '(no question)' }],
])('the question in %j is found', (detail, question) => expect(questionOf(detail)).toEqual(question));

describe('resolution of an effect', () => {
  const said = { asked: 'doubt', outcome: 'recorded', note: '' } as const;

  test.each([
    ['a result', { ...said, result: readJson('{"id":1}') }, { outcome: 'recorded', result: { id: 1 } }],
    ['no result', { ...said, result: readJson(' ') }, undefined],
    ['a null', { ...said, result: readJson('null') }, { outcome: 'recorded', result: null }],
    ['what is no JSON', { ...said, result: readJson('{id:1}') }, undefined],
    [
      'a failure, with a result filled in before',
      { ...said, outcome: 'failed', result: readJson('{bad') },
      { outcome: 'failed' },
    ],
    [
      'a repetition that is not wanted',
      { asked: 'repetition', outcome: 'recorded', note: 'n', result: readJson('1') },
      { outcome: 'recorded', note: 'n' },
    ],
  ] as const)('is sent as it was filled in: %s', (_, form, body) => {
    const made = resolveBody(form);
    expect(made).toEqual(body);
    if (made) expect(ResolveBody.parse(made)).toEqual(made);
  });

  test.each([
    ['recorded', ' ', 'The result is required.'],
    ['recorded', '{id:1}', 'The result is not JSON.'],
    ['recorded', 'null', undefined],
    ['failed', '', undefined],
  ] as const)('as %s with the result %j lacks: %s', (outcome, text, lack) => {
    expect(lackOfResolution({ asked: 'doubt', outcome, result: readJson(text) })).toBe(lack);
  });

  test('has the same content as a command', () => {
    expect(
      resolveCli('r1', 'e1.0001', { outcome: 'recorded', result: { a: 'b c' }, note: 'asked them' }),
    ).toEqual([
      ...['effects', 'resolve', 'r1', 'e1.0001', 'recorded'],
      ...['--result', '{"a":"b c"}', '--note', 'asked them'],
    ]);
  });
});

describe('a successor', () => {
  const chosen = {
    mode: 'fork',
    from: { step: 'draft' },
    input: undefined,
    planVersion: 2,
    carries: false,
  } as const;

  test('is requested exactly as previewed', () => {
    const preview = previewBody({ ...chosen, input: readJson('{"a":1}') });
    expect(PreviewBody.parse(preview)).toEqual({
      mode: 'fork',
      from: { step: 'draft' },
      input: { a: 1 },
      planVersion: 2,
    });
    const { mode, ...rest } = preview ?? { mode: 'fork' };
    expect(ForkBody.parse(requestBody(preview ?? { mode }, false))).toEqual(rest);
    expect(requestBody(preview ?? { mode }, true)).toEqual({ ...rest, force: true });
  });

  test('carries over signals in the preview, the request and the command alike', () => {
    const preview = previewBody({ ...chosen, mode: 'resume', from: undefined, carries: true });
    expect(PreviewBody.parse(preview)).toEqual({ mode: 'resume', signals: 'carry' });
    expect(ResumeBody.parse(requestBody(preview ?? { mode: 'fork' }, false))).toEqual({ signals: 'carry' });
    expect(successorCli('r1', preview ?? { mode: 'fork' }, false)).toEqual([
      ...['runs', 'resume', 'r1'],
      '--carry-signals',
    ]);
  });

  test('of mode resume has no input or plan of its own', () => {
    const preview = previewBody({ ...chosen, mode: 'replay', input: readJson('1') });
    expect(preview).toEqual({ mode: 'replay', from: { step: 'draft' } });
    expect(ResumeBody.parse(requestBody({ mode: 'resume' }, false))).toEqual({});
  });

  test.each(['{', ''])('has no preview while its input is %j', (text) => {
    expect(previewBody({ ...chosen, input: readJson(text) })).toBeUndefined();
  });

  test.each([
    ['step:draft', { step: 'draft' }],
    ['step:a:b', { step: 'a:b' }],
    ['checkpoint:12', { checkpoint: 12 }],
  ])('goes on from where the address says: %s', (word, from) => {
    expect(fromOf(word)).toEqual(from);
    expect(wordOf(from)).toBe(word);
  });

  test.each([undefined, '', 'step:', 'checkpoint:x', 'checkpoint:0', 'draft'])(
    '%j is no such place',
    (word) => {
      expect(fromOf(word)).toBeUndefined();
    },
  );

  test('has the same content as a command', () => {
    const body = { mode: 'fork', from: { checkpoint: 4 }, input: [1], planVersion: 3 } as const;
    expect(successorCli('r1', body, true)).toEqual([
      ...['runs', 'fork', 'r1', '--from-checkpoint', '4'],
      ...['--input', '[1]', '--plan-version', '3', '--force'],
    ]);
  });
});
