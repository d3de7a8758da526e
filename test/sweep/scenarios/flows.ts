/** Flows: sequential and concurrent operations, retries, waits, actions, children, and compensation. */
import { z } from 'zod';
import { Fatal } from '../../../packages/cairn/src/core/errors.ts';
import { MAX_TURNS_IN_A_RUN } from '../../../packages/cairn/src/core/flow/parts.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { posting } from '../receiver.ts';
import type { Scenario, Stage } from '../scenario.ts';
import { acting, code, coded, completed, input } from './flow-code.ts';
import { cancels, decides, delivers, person } from './operations.ts';

const several = (stage: Stage) =>
  code(async (flow) => {
    const first = await flow.step('first', acting(stage, 'first'));
    const [left, right] = await Promise.all([
      flow.step('left', acting(stage, 'left', 200)),
      flow.step('right', acting(stage, 'right', 100)),
    ]);
    const last = await flow.step(
      'last',
      async (context) => {
        await stage.acts({ ...context, operation: 'last' });
        if (context.attempt === 1) throw new Error('not yet');
        return 'last';
      },
      { retry: { maxAttempts: 8, initialMs: 300 } },
    );
    return [first, left, right, last].join();
  });

const turns = (stage: Stage) =>
  code(async (flow) => {
    const names: string[] = [];
    for (const name of ['turn', 'turn.2']) {
      names.push(await flow.step('turn', acting(stage, name)));
      await flow.sleep('pause', '1h');
    }
    return names.join();
  });

const asking = (stage: Stage) =>
  code(async (flow, type) => {
    const before = await flow.step('before', acting(stage, 'before'));
    const build = await flow.event<{ green: boolean }>('build', { event: 'built', key: type });
    const { decision } = await flow.approval('release', 'Release?');
    const after = await flow.step('after', acting(stage, 'after'));
    return [before, build.green, decision, after].join();
  });

const racing = (stage: Stage) =>
  code(async (flow) => {
    const won = await Promise.race([
      flow.event('answer', { key: 'k' }).then(() => 'answer'),
      flow.sleep('patience', '10m').then(() => 'patience'),
    ]);
    return won + (await flow.step('after', acting(stage, 'after')));
  });

const doubling = (stage: Stage) =>
  defineWorkflow({
    type: 'flow-doubling',
    planVersion: 1,
    input: z.object({ n: z.number() }),
    run: async (flow, { n }) => {
      await flow.step('double', acting(stage, 'double'));
      return 2 * n;
    },
  });

const parent = (stage: Stage) =>
  code(async (flow) => {
    const kids = await Promise.all([1, 2].map((n) => flow.child('kid', 'flow-doubling', { n })));
    const after = await flow.step('after', acting(stage, 'after'));
    return [JSON.stringify(kids), after].join();
  });

const undone = (stage: Stage) => (type: string) =>
  defineWorkflow({
    type,
    planVersion: 1,
    input,
    compensate: {
      reserve: async (context) => stage.undoes({ ...context, operation: String(context.output) }),
    },
    run: async (flow): Promise<null> => {
      await flow.step('reserve', acting(stage, 'reserve'));
      await flow.step('reserve', acting(stage, 'reserve.2'));
      throw new Fatal('broken');
    },
  });

const mapped = (stage: Stage) =>
  code(async (flow) =>
    flow.map(
      'item',
      [1, 2, 3],
      async ({ item, ...context }) => {
        await stage.acts({ ...context, operation: `item[${item - 1}]` }, 50);
        return item * item;
      },
      { concurrency: 2 },
    ),
  );

const looping = (stage: Stage) => (type: string) =>
  defineWorkflow({
    type,
    planVersion: 1,
    input,
    steps: (step) => ({
      output: step.loop('loop', {
        state: () => '',
        while: ({ turn }) => turn < 3,
        max: 3,
        pause: ({ turn }) => (turn === 1 ? '1h' : 0),
        body: async ({ state, turn, ...context }) =>
          state + (await acting(stage, turn === 1 ? 'turn' : `turn.${turn}`)(context)),
      }),
    }),
  });

const TURNS_OF_A_RUN = 2;

/** A loop that continues in two child runs. */
const loopingOn = (stage: Stage) => (type: string) =>
  defineWorkflow({
    type,
    planVersion: 1,
    input,
    steps: (step) => ({
      output: step.loop('loop', {
        state: () => '',
        while: ({ turn }) => turn < 2 * TURNS_OF_A_RUN + 1,
        max: MAX_TURNS_IN_A_RUN + 1,
        pause: ({ turn }) => (turn === TURNS_OF_A_RUN ? '1h' : 0),
        body: async ({ state, turn, ...context }) => {
          const ofRun = ((turn - 1) % TURNS_OF_A_RUN) + 1;
          return state + (await acting(stage, ofRun === 1 ? 'turn' : `turn.${ofRun}`)(context));
        },
      }),
    }),
  });

const post = posting();

const sending = () => (type: string) =>
  defineWorkflow({
    type,
    planVersion: 1,
    input,
    uses: [post.capability],
    run: async (flow) => {
      const first = await flow.perform(post.capability, { what: 'first' });
      const both = await Promise.all([
        flow.perform(post.capability, { what: 'left' }, { name: 'left' }),
        flow.perform(post.capability, { what: 'right' }, { name: 'right' }),
      ]);
      return [first, ...both].map(({ id }) => id).join();
    },
  });

const sendingInTurns = () => (type: string) =>
  defineWorkflow({
    type,
    planVersion: 1,
    input,
    steps: (step) => ({
      output: step.loop('loop', {
        uses: [post.capability],
        state: () => '',
        while: ({ turn }) => turn < 2,
        max: 2,
        body: async ({ state, turn, perform }) =>
          state + (await perform(post.capability, { what: `turn ${turn}` })).id,
      }),
    }),
  });

export const flowScenarios: readonly Scenario[] = [
  coded('flow', several, { ends: completed }),
  coded('flow-turns', turns, { ends: completed }),
  coded('flow-asking', asking, {
    operations: [
      delivers('built', 'flow-asking', { green: true }, { when: (view) => view.waitsAt('flow[build]') }),
      decides('flow[release]', { decision: 'approve' }),
    ],
    ends: { status: 'completed', shows: ['wait_resolved'] },
  }),
  coded('flow-race', racing, { ends: completed }),
  coded('flow-cancelled', racing, {
    operations: [cancels((view) => view.waitsAt('flow[answer]'))],
    ends: { status: 'cancelled' },
  }),
  coded('flow-children', parent, {
    called: doubling,
    ends: { status: 'completed', others: ['flow-doubling: completed', 'flow-doubling: completed'] },
  }),
  coded('flow-undone', undone, {
    ends: { status: 'failed', errorCode: 'STEP_FAILED', shows: ['step_compensated'] },
  }),
  coded('flow-map', mapped, { ends: completed }),
  coded('loop', looping, { ends: completed }),
  coded('loop-parts', loopingOn, {
    settings: { turnsOfARun: TURNS_OF_A_RUN },
    ends: { status: 'completed', others: ['loop-parts.loop: completed', 'loop-parts.loop: completed'] },
  }),
  coded('loop-effects', sendingInTurns, {
    effects: [post],
    operations: person(),
    ends: { status: 'completed', shows: ['effect_attempted', 'effect_settled'] },
  }),
  coded('flow-effects', sending, {
    effects: [post],
    operations: person(),
    ends: { status: 'completed', shows: ['effect_attempted', 'effect_settled'] },
  }),
];
