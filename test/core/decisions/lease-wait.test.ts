import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { toleratesRedelivery } from '../../../packages/cairn/src/core/decisions/claim.ts';
import type { DeployedPlan } from '../../../packages/cairn/src/core/decisions/deployed-plan.ts';
import { leaseWaitOf } from '../../../packages/cairn/src/core/decisions/lease-wait.ts';
import type { RunState } from '../../../packages/cairn/src/core/run/state.ts';
import { claimed, created, grownBy } from '../run/journal-drafts.ts';
import { journals } from '../run/random-journal.ts';

const fresh = created().state;
const leased = grownBy(fresh, [claimed(fresh), { type: 'run_started', initiator: 'system', data: {} }]);
const running = (...keys: string[]): RunState => ({
  ...leased,
  steps: keys.reduce(
    (steps, key) => steps.set(key, { phase: 'running', attempt: 1, revision: 1, seq: 1, startedAt: 0 }),
    leased.steps,
  ),
});
const acting = (...keys: string[]): RunState => ({
  ...leased,
  effects: keys.map((step) => effectOf(step)),
});
const effectOf = (step: string, capabilityId = 'mail') => ({
  effectId: step,
  step,
  revision: 1,
  capabilityId,
});
const partlyKeyed: RunState = { ...leased, effects: [effectOf('send'), effectOf('charge', 'keyed')] };
const deployed = (twice: boolean, available = true): DeployedPlan => ({
  available,
  isIdempotent: () => twice,
  actsOncePerKey: ({ capabilityId }) => capabilityId === 'keyed',
  isCompensable: () => false,
  onDoubt: 'fail',
});

describe('a run waits for the lease of its dead worker', () => {
  test.each([
    ['for a step that must not run twice', running('pay'), false, ['pay'], "step 'pay' must not run twice"],
    [
      'for many, of which three are named',
      running('a', 'b', 'c', 'd', 'e'),
      false,
      ['a', 'b', 'c', 'd', 'e'],
      "steps 'a', 'b', 'c' and 2 more must not run twice",
    ],
    [
      'for side effects, one step named once',
      acting('send', 'send'),
      true,
      ['send'],
      "an effect of step 'send' is in progress",
    ],
    [
      'for the effect whose receiver may act twice for a key',
      partlyKeyed,
      true,
      ['send'],
      "an effect of step 'send' is in progress",
    ],
    ['while it is undone', { ...leased, compensating: true }, true, [], 'its compensations are running'],
  ] as const)('%s', (_, state, twice, steps, why) => {
    expect(leaseWaitOf(state, deployed(twice))).toEqual({ steps, why });
  });

  test('if its plan is not deployed', () => {
    expect(leaseWaitOf(leased, deployed(true, false))?.why).toBe('its plan is not deployed');
  });

  test('but not for steps that may run twice, or without a lease', () => {
    expect(leaseWaitOf(running('pay'), deployed(true))).toBeUndefined();
    expect(
      leaseWaitOf({ ...leased, effects: [effectOf('charge', 'keyed')] }, deployed(true)),
    ).toBeUndefined();
    expect(leaseWaitOf(fresh, deployed(false))).toBeUndefined();
  });

  test('exactly if a redelivery does not take over the run', () => {
    fc.assert(
      fc.property(journals(), fc.boolean(), fc.boolean(), ({ states }, twice, available) => {
        const plan = deployed(twice, available);
        for (const state of states) {
          const waits = state.lease !== undefined && !toleratesRedelivery(state, plan);
          expect(leaseWaitOf(state, plan) !== undefined).toBe(waits);
        }
      }),
      { numRuns: 100 },
    );
  });
});
