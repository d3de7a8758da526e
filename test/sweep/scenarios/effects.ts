/** Bodies with external actions, over receivers of every nature. A person who knows the outcomes answers each question. */
import { z } from 'zod';
import { type Idempotency, REPLAY_POLICIES } from '../../../packages/cairn/src/core/effects/effect.ts';
import { Fatal } from '../../../packages/cairn/src/core/errors.ts';
import type { Workflow } from '../../../packages/cairn/src/engine/define/steps.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { type Bound, type Nature, posting } from '../receiver.ts';
import type { Ending, Scenario, Stage } from '../scenario.ts';
import { person, succeeds } from './operations.ts';

const input = z.object({});
const retry = { maxAttempts: 4, initialMs: 100 };

interface Sketch {
  readonly name: string;
  readonly nature?: Partial<Nature>;
  readonly workflow: (stage: Stage, bound: Bound) => Workflow;
  readonly ends?: Ending;
  readonly more?: Partial<Scenario>;
}

function scenarioOf({ name, nature, workflow, ends, more }: Sketch): Scenario {
  const bound = posting(nature);
  return {
    name,
    effects: [bound],
    workflows: (stage) => [workflow(stage, bound)],
    start: { type: 'posting' },
    operations: person(),
    ends: ends ?? { status: 'completed', shows: ['effect_attempted', 'effect_settled'] },
    ...more,
  };
}

const once = (stage: Stage, { capability }: Bound) =>
  defineWorkflow({
    type: 'posting',
    planVersion: 1,
    input,
    steps: (step) => ({
      sent: step('send', { uses: [capability], retry }, async ({ perform, ...c }) => {
        await stage.acts(c);
        return perform(capability, { what: 'hello' });
      }),
    }),
  });

const several = (stage: Stage, { capability }: Bound) =>
  defineWorkflow({
    type: 'posting',
    planVersion: 1,
    input,
    steps: (step) => ({
      sent: step('send', { uses: [capability], retry }, async ({ perform, ...c }) => {
        await stage.acts(c);
        const first = await perform(capability, { what: 'first' });
        const both = await Promise.all(
          ['left', 'right'].map((what) => perform(capability, { what }, { key: what })),
        );
        return [first, ...both];
      }),
    }),
  });

const items = (stage: Stage, { capability }: Bound) =>
  defineWorkflow({
    type: 'posting',
    planVersion: 1,
    input,
    steps: (step) => ({
      sent: step.map(
        'send',
        { over: () => ['a', 'b'], uses: [capability], retry },
        async ({ perform, item, ...c }) => {
          await stage.acts(c);
          return perform(capability, { what: item });
        },
      ),
    }),
  });

const undone = (stage: Stage, { capability }: Bound) =>
  defineWorkflow({
    type: 'posting',
    planVersion: 1,
    input,
    steps(step) {
      const locked = step(
        'lock',
        {
          uses: [capability],
          retry,
          compensate: async ({ perform, ...c }) => {
            await stage.undoes(c);
            await perform(capability, { what: 'unlock' });
          },
        },
        async ({ perform, ...c }) => {
          await stage.acts(c);
          return perform(capability, { what: 'lock' });
        },
      );
      const broken = step('break', { needs: { locked } }, async (c) => {
        await stage.acts(c);
        throw new Fatal('broken');
      });
      return { broken };
    },
  });

const unrepeatable = (stage: Stage, { capability }: Bound) =>
  defineWorkflow({
    type: 'posting',
    planVersion: 1,
    input,
    steps: (step) => ({
      sent: step('send', { uses: [capability], idempotent: false }, async ({ perform, ...c }) => {
        await stage.acts(c);
        return perform(capability, { what: 'hello' });
      }),
    }),
  });

const IDEMPOTENCY: readonly Idempotency[] = ['required', 'optional', 'not_supported'];

const natures: readonly Scenario[] = (['write', 'external_action'] as const).flatMap((sideEffects) =>
  IDEMPOTENCY.flatMap((idempotency) =>
    [true, false].map((withLookup) =>
      scenarioOf({
        name: `effect-${sideEffects}-${idempotency}${withLookup ? '-lookup' : ''}`,
        nature: { sideEffects, idempotency, withLookup },
        workflow: once,
        // The class of side effects does not change the ledger, so one class is enough for pairs.
        ...(sideEffects === 'external_action' ? { more: { pairs: true } } : {}),
      }),
    ),
  ),
);

/** Calls without ledger rows, for which the other properties do not matter. */
const reads: readonly Scenario[] = (['none', 'read'] as const).flatMap((sideEffects) =>
  IDEMPOTENCY.flatMap((idempotency) =>
    REPLAY_POLICIES.map((replayPolicy) =>
      scenarioOf({
        name: `effect-${sideEffects}-${idempotency}-${replayPolicy}`,
        nature: { sideEffects, idempotency, replayPolicy },
        workflow: once,
        ends: { status: 'completed' },
      }),
    ),
  ),
);

/** Replay policies of a recorded effect, with receivers of every nature. */
const replays: readonly Scenario[] = (['write', 'external_action'] as const).flatMap((sideEffects) =>
  REPLAY_POLICIES.flatMap((replayPolicy) =>
    IDEMPOTENCY.map((idempotency) =>
      scenarioOf({
        name: `effect-replay-${sideEffects}-${replayPolicy}-${idempotency}`,
        nature: { sideEffects, replayPolicy, idempotency },
        workflow: once,
        ends: { status: 'completed', others: ['posting: completed'] },
        more: { operations: [succeeds('replay'), ...person(replayPolicy === 'require_human' ? 1 : 0)] },
      }),
    ),
  ),
);

export const effectScenarios: readonly Scenario[] = [
  ...natures,
  ...reads,
  ...replays,
  scenarioOf({ name: 'effects-several', workflow: several }),
  scenarioOf({ name: 'effects-several-lookup', nature: { withLookup: true }, workflow: several }),
  scenarioOf({ name: 'effects-items', workflow: items }),
  scenarioOf({
    name: 'effect-confirmed',
    nature: { requiresConfirmation: true },
    workflow: once,
    more: { operations: person(1) },
  }),
  scenarioOf({ name: 'effect-refused', workflow: once, more: { refusesOnce: ['hello'] } }),
  scenarioOf({
    name: 'effect-undone',
    nature: { withLookup: true },
    workflow: undone,
    ends: { status: 'failed', errorCode: 'STEP_FAILED', shows: ['step_compensated'] },
  }),
  scenarioOf({ name: 'effect-unrepeatable', workflow: unrepeatable }),
];
