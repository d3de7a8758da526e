/** Ends of flows and of their operations: caught and uncaught failures, time limits, changed code, compensation, questions. */
import { Fatal, OperationFailed } from '../../../packages/cairn/src/core/errors.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { posting } from '../receiver.ts';
import type { Operation, Scenario, Stage, View } from '../scenario.ts';
import { acting, code, coded, completed, failing, input } from './flow-code.ts';
import { cancels, person, succeeds } from './operations.ts';

const ONCE = { retry: { maxAttempts: 1 } };

const caught = (stage: Stage) =>
  code(async (flow) => {
    try {
      return await flow.step('broken', failing(stage, 'broken', new Fatal('no such thing')));
    } catch (error) {
      if (!(error instanceof OperationFailed)) throw error;
      await flow.sleep('pause', '10m');
      return [error.operation, error.code, await flow.step('instead', acting(stage, 'instead'))].join();
    }
  });

/** Each attempt exceeds its timeout. */
const slow = (stage: Stage) =>
  code(async (flow) => {
    try {
      return await flow.step('slow', acting(stage, 'slow', 5_000), { ...ONCE, timeout: '2s' });
    } catch (error) {
      if (!(error instanceof OperationFailed)) throw error;
      return [error.code, await flow.step('instead', acting(stage, 'instead'))].join();
    }
  });

const exhausted = (stage: Stage) =>
  code(async (flow) =>
    flow.step('broken', failing(stage, 'broken', new Error('not now')), {
      retry: { maxAttempts: 3, initialMs: 300 },
    }),
  );

/** Continues without an operation that fails. */
const unawaited = (stage: Stage) =>
  code(async (flow) => {
    void flow.step('audit', failing(stage, 'audit', new Fatal('no audit'), 100));
    return flow.step('work', acting(stage, 'work', 200));
  });

const failingMap = (stage: Stage) =>
  code(async (flow) => {
    try {
      return await flow.map(
        'item',
        [1, 2, 3],
        async ({ item, ...context }) => {
          await stage.acts({ ...context, operation: `item[${item - 1}]` }, 50);
          if (item === 2) throw new Fatal('the second');
          return item;
        },
        { concurrency: 1 },
      );
    } catch (error) {
      if (!(error instanceof OperationFailed)) throw error;
      return flow.step('instead', acting(stage, 'instead'));
    }
  });

/** A step of a graph that is degraded when it fails. */
const degraded = (stage: Stage) => (type: string) =>
  defineWorkflow({
    type,
    planVersion: 1,
    input,
    steps(step) {
      const priced = step.flow('flow', { onFailure: { degradeTo: 'list price' } }, async (flow) => {
        await flow.step('ask', acting(stage, 'ask'));
        return flow.step('broken', failing(stage, 'broken', new Fatal('no price')));
      });
      return {
        sold: step('sell', { needs: { priced } }, async ({ priced, ...context }) => {
          await stage.acts(context);
          return priced;
        }),
      };
    },
  });

/** Reserves twice, and rests. Each compensation reports to the stage. */
const reserving =
  (stage: Stage, more: { readonly timeout?: string } = {}) =>
  (type: string) =>
    defineWorkflow({
      type,
      planVersion: 1,
      input,
      ...more,
      compensate: {
        reserve: async (context) => stage.undoes({ ...context, operation: String(context.output) }, 50),
      },
      run: async (flow) => {
        await flow.step('reserve', acting(stage, 'reserve'));
        await flow.step('reserve', acting(stage, 'reserve.2'));
        await flow.sleep('night', '30m');
        return flow.step('after', acting(stage, 'after'));
      },
    });

const beside = (stage: Stage) =>
  code(async (flow) => {
    const late = async () => {
      await flow.sleep('pause', '10m');
      return flow.step('late', acting(stage, 'late'));
    };
    return (
      await Promise.all([
        late(),
        flow.step('left', acting(stage, 'left', 200)),
        flow.step('broken', failing(stage, 'broken', new Fatal('broken'), 100)),
      ])
    ).join();
  });

/** Stages on which a deployment has changed the code. */
const changed = new WeakSet<Stage>();

/** Code that makes another request under the same name once a deployment has changed it. */
const changing = (stage: Stage) =>
  code(async (flow) => {
    await flow.step('charge', acting(stage, 'charge'), { input: { cents: changed.has(stage) ? 2 : 1 } });
    await flow.sleep('pause', '1h');
    return flow.step('after', acting(stage, 'after'));
  });

/** A deployment; `back` restores the original code. */
const deploys = (when: (view: View) => boolean, back?: 'back'): Operation => ({
  name: back ? 'deploy the code of before' : 'deploy changed code',
  when,
  act: async ({ stage }) => {
    if (back) changed.delete(stage);
    else changed.add(stage);
  },
});

const post = posting();
const careful = posting({ requiresConfirmation: true });

/** Acts, fails and reports it: a successor must not act again. */
const sendingOnce = (stage: Stage) => (type: string) =>
  defineWorkflow({
    type,
    planVersion: 1,
    input,
    uses: [post.capability],
    run: async (flow) => {
      const sent = await flow.perform(post.capability, { what: 'order' });
      await flow.step('check', failing(stage, 'check', new Fatal('out of stock'))).catch(() => undefined);
      const apology = await flow.perform(post.capability, { what: 'apology' }, { name: 'apologise' });
      return [sent.id, apology.id].join();
    },
  });

const confirmed = () => (type: string) =>
  defineWorkflow({
    type,
    planVersion: 1,
    input,
    uses: [careful.capability],
    run: async (flow) => (await flow.perform(careful.capability, { what: 'payment' })).id,
  });

export const flowEndingScenarios: readonly Scenario[] = [
  coded('flow-caught', caught, { ends: completed }),
  coded('flow-step-times-out', slow, { judgedByEnd: true, ends: completed }),
  coded('flow-retries-exhausted', exhausted, { ends: { status: 'failed', errorCode: 'STEP_FAILED' } }),
  coded('flow-unawaited', unawaited, { ends: completed }),
  coded('flow-map-fails', failingMap, { ends: completed }),
  coded('flow-degraded', degraded, { ends: { status: 'completed', shows: ['step_degraded'] } }),
  coded('flow-fails-beside-others', beside, { ends: { status: 'failed', errorCode: 'STEP_FAILED' } }),
  coded('flow-cancelled-undone', reserving, {
    operations: [cancels((view) => view.waitsAt('flow[night]'))],
    ends: { status: 'cancelled', shows: ['step_compensated'] },
  }),
  coded('flow-run-times-out', (stage) => reserving(stage, { timeout: '20m' }), {
    ends: { status: 'failed', errorCode: 'RUN_TIMEOUT', shows: ['step_compensated'] },
  }),
  coded('flow-diverged', changing, {
    operations: [deploys((view) => view.waitsAt('flow[pause]'))],
    ends: { status: 'failed', errorCode: 'FLOW_DIVERGED' },
  }),
  coded('flow-diverged-resumed', changing, {
    operations: [
      deploys((view) => view.waitsAt('flow[pause]')),
      deploys(({ run }) => run?.status === 'failed', 'back'),
      succeeds('resume', { when: (view) => view.wasAnswered('deploy the code of before') }),
    ],
    ends: {
      status: 'failed',
      errorCode: 'FLOW_DIVERGED',
      others: ['flow-diverged-resumed: completed'],
      shows: ['step_reused'],
    },
  }),
  coded('flow-resumed', reserving, {
    operations: [cancels((view) => view.waitsAt('flow[night]')), succeeds('resume')],
    ends: { status: 'cancelled', others: ['flow-resumed: completed'], shows: ['step_compensated'] },
  }),
  coded('flow-effect-in-a-failure', sendingOnce, {
    effects: [post],
    operations: person(),
    ends: { status: 'completed', shows: ['effect_settled'] },
  }),
  coded('flow-effect-confirmed', confirmed, {
    effects: [careful],
    operations: person(1),
    ends: { status: 'completed', shows: ['effect_settled'] },
  }),
];
