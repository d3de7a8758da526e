import { describe, expect, test } from '@jest/globals';
import { planDifference } from '../../packages/cairn/src/core/plan/difference.ts';
import {
  differ,
  MAX_PLAN_BYTES,
  type Plan,
  planFingerprint,
  planFrom,
  planText,
  type StepPlan,
} from '../../packages/cairn/src/core/plan/plan.ts';

const step = (needs: readonly string[] = [], more: Partial<StepPlan> = {}): StepPlan => ({
  kind: 'step',
  needs,
  ...more,
});

const BEFORE: Plan = {
  input: { id: 'string' },
  result: { done: 'ship' },
  steps: { charge: step(), mail: step(['charge']), ship: step(['mail']) },
};

const withSteps = (steps: Plan['steps']): Plan => ({ ...BEFORE, steps });

describe('a difference names the step and what changed', () => {
  test.each<[string, Plan, string]>([
    [
      'a step that is gone',
      withSteps({ mail: step(), ship: step(['mail']) }),
      "step 'charge' was renamed or removed",
    ],
    [
      'a new name',
      withSteps({ bill: step(), mail: step(['charge']), ship: step(['mail']) }),
      "step 'charge' was renamed to 'bill'",
    ],
    [
      'a step before another',
      withSteps({ ...BEFORE.steps, check: step(['mail']), ship: step(['check']) }),
      "step 'check' was inserted before 'ship'",
    ],
    ['a step at the end', withSteps({ ...BEFORE.steps, log: step(['ship']) }), "step 'log' was added"],
    [
      'a step that is named like a member of every object',
      withSteps({ ...BEFORE.steps, constructor: step(['ship']) }),
      "step 'constructor' was added",
    ],
    [
      'another kind',
      withSteps({ ...BEFORE.steps, mail: step(['charge'], { kind: 'approval' }) }),
      "step 'mail' was a step, is an approval",
    ],
    [
      'other needs',
      withSteps({ ...BEFORE.steps, mail: step() }),
      "'needs' of step 'mail' was charge, is nothing",
    ],
    [
      'a condition',
      withSteps({ ...BEFORE.steps, mail: step(['charge'], { when: true }) }),
      "'when' of step 'mail' was absent, is there",
    ],
    [
      'an option with a default',
      withSteps({ ...BEFORE.steps, mail: step(['charge'], { idempotent: false }) }),
      "'idempotent' of step 'mail' was true, is false",
    ],
    [
      'capabilities',
      withSteps({ ...BEFORE.steps, mail: step(['charge'], { uses: ['mail.send'] }) }),
      "'uses' of step 'mail' was nothing, is mail.send",
    ],
    [
      'the shape of an output',
      withSteps({ ...BEFORE.steps, mail: step(['charge'], { output: 'string' }) }),
      "the shape of 'output' of step 'mail' changed",
    ],
    ['the input', { ...BEFORE, input: { id: 'number' } }, "the shape of 'input' of the workflow changed"],
    ['onDoubt', { ...BEFORE, onDoubt: 'ask' }, "'onDoubt' of the workflow was 'fail', is 'ask'"],
  ])('%s', (_, after, what) => {
    expect(planDifference(BEFORE, after)[0]?.what).toBe(what);
    expect(planFingerprint(after)).not.toBe(planFingerprint(BEFORE));
  });

  test('still names the step if only hashes were kept', () => {
    const ids = Array.from({ length: 2_700 }, (_, i) => `step-${i}-${'x'.repeat(60)}`);
    const many = withSteps(Object.fromEntries(ids.map((id) => [id, step()])));
    const [first = '', second = ''] = ids;
    const text = planText(many) ?? '';
    expect(text.length).toBeLessThanOrEqual(MAX_PLAN_BYTES);
    expect(planDifference(planFrom(text), many)).toEqual([]);
    const after = withSteps({ ...many.steps, [second]: step([first]) });
    expect(planDifference(planFrom(text), after)).toEqual([
      { stepId: second, what: `step '${second}' changed` },
    ]);
  });

  test('is only a fingerprint for a plan too large even for hashes', () => {
    const ids = Array.from({ length: 10_000 }, (_, i) => `step-${i}`);
    expect(planText(withSteps(Object.fromEntries(ids.map((id) => [id, step()]))))).toBeUndefined();
  });
});

test('ignores the order in which steps were declared', () => {
  const { charge, mail, ship } = BEFORE.steps as Record<string, StepPlan>;
  const turned = withSteps({ ship, mail, charge } as Plan['steps']);
  expect(planFingerprint(turned)).toBe(planFingerprint(BEFORE));
  expect(planDifference(planFrom(planText(BEFORE) ?? ''), turned)).toEqual([]);
});

test('is empty between fingerprints of different formats', () => {
  const own = planFingerprint(BEFORE);
  expect(differ(own, own)).toBe(false);
  expect(differ(own, `${own}0`)).toBe(true);
  expect(differ(own, own.replace('1:', '2:'))).toBe(false);
});
