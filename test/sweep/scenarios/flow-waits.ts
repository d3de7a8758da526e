/** Waits of flows: events before, in and after their time, decisions, timers, children, and actions of operators. */
import { z } from 'zod';
import { Fatal, OperationFailed } from '../../../packages/cairn/src/core/errors.ts';
import type {
  FlowApprovalOptions,
  FlowChildOptions,
  FlowEventOptions,
} from '../../../packages/cairn/src/engine/define/flow/types.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import type { Scenario, Stage, View } from '../scenario.ts';
import { acting, code, coded, completed, input } from './flow-code.ts';
import { beats, cancels, decides, delivers, failsWait, holds, signals, suspends } from './operations.ts';

interface Built {
  readonly green: boolean;
}

const green: Built = { green: true };
const MINUTE_MS = 60_000;
/** Longer than any delay by an earlier crash. */
const LATER_MS = 45 * MINUTE_MS;

/** The code of the error that an operation throws into the code. */
const failureOf = async (operation: Promise<unknown>): Promise<string> => {
  try {
    return `no failure: ${JSON.stringify(await operation)}`;
  } catch (error) {
    if (error instanceof OperationFailed) return error.code;
    throw error;
  }
};

/** Real processes play all scenarios as one tenant, so each has its own events. */
const building = (type: string, options: Partial<FlowEventOptions> = {}) => ({
  event: 'built',
  key: type,
  ...options,
});
const waitsForBuild = (view: View) => view.waitsAt('flow[build]');

/** An event between two bodies. */
const waiting = (stage: Stage, options: Partial<FlowEventOptions> = {}, ms = 0) =>
  code(async (flow, type) => {
    const before = await flow.step('before', acting(stage, 'before', ms));
    const build = await flow.event<Built>('build', building(type, options));
    return [before, build.green, await flow.step('after', acting(stage, 'after'))].join();
  });

/** Code that continues when the event fails. */
const waitingOrNot = (stage: Stage, options: Partial<FlowEventOptions> = {}) =>
  code(async (flow, type) => {
    const failure = await failureOf(flow.event('build', building(type, options)));
    return [failure, await flow.step('instead', acting(stage, 'instead'))].join();
  });

/** A second wait for the same event, after a pause. */
const waitingTwice = (stage: Stage) =>
  code(async (flow, type) => {
    const received: unknown[] = [];
    for (const name of ['turn', 'turn.2']) {
      received.push(await flow.event('build', building(type)));
      await flow.step('turn', acting(stage, name, 50));
    }
    return JSON.stringify(received);
  });

const waitingForBoth = (stage: Stage) =>
  code(async (flow, type) => {
    const [build, release] = await Promise.all([
      flow.event<Built>('build', building(type)),
      flow.approval('release', 'Release?'),
      flow.sleep('cool-down', '10m'),
    ]);
    return [build.green, release.decision, await flow.step('after', acting(stage, 'after'))].join();
  });

const waitingWhileBusy = (stage: Stage) =>
  code(async (flow, type) => {
    const [build, work] = await Promise.all([
      flow.event<Built>('build', building(type)),
      flow.step('work', acting(stage, 'work', 9_000)),
    ]);
    return [build.green, work].join();
  });

const asking = (stage: Stage, options: FlowApprovalOptions = {}) =>
  code(async (flow) => {
    await flow.step('draft', acting(stage, 'draft'));
    const { decision } = await flow.approval('release', 'Release?', options);
    return [decision, await flow.step('after', acting(stage, 'after'))].join();
  });

const askingOrNot = (stage: Stage, options: FlowApprovalOptions = {}) =>
  code(async (flow) => {
    const failure = await failureOf(flow.approval('release', 'Release?', options));
    return [failure, await flow.step('instead', acting(stage, 'instead'))].join();
  });

/** A flow of a graph, whose output a person sends back. */
const reviewed = (stage: Stage) => (type: string) =>
  defineWorkflow({
    type,
    planVersion: 1,
    input,
    steps(step) {
      const draft = step.flow('flow', {}, async (flow) => {
        await flow.step('think', acting(stage, 'think'));
        await flow.sleep('pause', '10m');
        await flow.step('write', acting(stage, 'write'));
        return `draft ${flow.revision}, ${flow.feedback ?? 'first'}`;
      });
      const gate = step.approval('gate', { needs: { draft }, ask: ({ draft }) => draft });
      return {
        published: step('publish', { needs: { draft, gate } }, async ({ draft, gate, ...context }) => {
          await stage.acts(context);
          return `${draft}: ${gate.decision}`;
        }),
      };
    },
  });

/** Times, of which the result may contain only what is the same in every performance. */
const timing = (stage: Stage) =>
  code(async (flow) => {
    const [began, drawn] = [await flow.now(), await flow.random()];
    await flow.sleep('until', new Date(began + 2 * 60 * MINUTE_MS));
    await flow.step('after', acting(stage, 'after'));
    const passed = (await flow.now()) - began;
    // The virtual clock has fractions of milliseconds, but a Date does not.
    return [passed > 2 * 60 * MINUTE_MS - 1, drawn >= 0 && drawn < 1].join();
  });

const sleeping = (stage: Stage) =>
  code(async (flow) => {
    const first = await flow.step('first', acting(stage, 'first', 5_000));
    await flow.sleep('nap', '10m');
    return [first, await flow.step('second', acting(stage, 'second', 50))].join();
  });

/** A child that waits, or that fails. */
const kid = (stage: Stage) =>
  defineWorkflow({
    type: 'kid',
    planVersion: 1,
    input: z.object({ fails: z.boolean() }),
    run: async (flow, { fails }) => {
      await flow.step('work', acting(stage, 'work'));
      if (fails) throw new Fatal('no use');
      await flow.sleep('night', '4h');
      return flow.step('late', acting(stage, 'late'));
    },
  });

const parent = (stage: Stage, options: FlowChildOptions = {}) =>
  code(async (flow) => {
    const night = await flow.child('kid', 'kid', { fails: false }, options);
    return [JSON.stringify(night), await flow.step('after', acting(stage, 'after'))].join();
  });

const parentOfFailing = (stage: Stage) =>
  code(async (flow) => {
    const failure = await failureOf(flow.child('kid', 'kid', { fails: true }));
    return [failure, await flow.step('instead', acting(stage, 'instead'))].join();
  });

/** The race is won before the child has ended. */
const racingChild = (stage: Stage) =>
  code(async (flow) => {
    const won = await Promise.race([
      flow.child('kid', 'kid', { fails: false }).then(() => 'kid'),
      flow.sleep('patience', '1h').then(() => 'patience'),
    ]);
    return won + (await flow.step('after', acting(stage, 'after')));
  });

const waitsForKid = (view: View) => view.waitsAt('flow[kid]');
const approve = { decision: 'approve' } as const;

const secondGate = {
  name: 'decide again',
  when: ({ run, wasAnswered }: View) =>
    wasAnswered('decide gate') && (run?.waits.some(({ id }) => id === 'gate.2') ?? false),
};

const limited = { timeout: '2h' };

export const flowWaitScenarios: readonly Scenario[] = [
  coded('flow-event-early', (stage) => waiting(stage, {}, 2_000), {
    operations: [delivers('built', 'flow-event-early', green)],
    ends: { status: 'completed', shows: ['wait_resolved'] },
  }),
  coded('flow-event-while-busy', waitingWhileBusy, {
    operations: [delivers('built', 'flow-event-while-busy', green, { when: waitsForBuild })],
    ends: { status: 'completed', shows: ['wait_resolved'] },
  }),
  coded('flow-event-twice', waitingTwice, {
    operations: [
      delivers('built', 'flow-event-twice', green, { name: 'first', when: waitsForBuild }),
      delivers(
        'built',
        'flow-event-twice',
        { green: false },
        {
          name: 'second',
          when: (view) => view.waitsAt('flow[build.2]'),
        },
      ),
    ],
    ends: { status: 'completed', shows: ['wait_resolved'] },
  }),
  coded('flow-event-never', (stage) => waiting(stage, limited), {
    ends: { status: 'failed', errorCode: 'STEP_TIMEOUT', shows: ['wait_expired'] },
  }),
  coded('flow-event-late', (stage) => waitingOrNot(stage, limited), {
    operations: [
      delivers('built', 'flow-event-late', green, { when: (view) => view.hasDone('flow[build]') }),
    ],
    ends: { status: 'completed', shows: ['wait_expired'] },
  }),
  coded('flow-event-failed', waitingOrNot, {
    operations: [failsWait('flow[build]')],
    ends: { status: 'completed', shows: ['wait_resolved'] },
  }),
  coded('flow-event-kept-alive', (stage) => waiting(stage, { heartbeat: { within: '1h' } }), {
    operations: [
      beats('flow[build]', 40 * MINUTE_MS),
      delivers('built', 'flow-event-kept-alive', green, { atMs: 80 * MINUTE_MS }),
    ],
    ends: { status: 'completed', shows: ['wait_heartbeat', 'wait_resolved'] },
  }),
  coded('flow-event-silent', (stage) => waitingOrNot(stage, { heartbeat: { within: '1h' } }), {
    ends: { status: 'completed', shows: ['wait_expired'] },
  }),
  coded('flow-signal', waiting, {
    operations: [signals('built', green, { when: waitsForBuild })],
    ends: { status: 'completed', shows: ['wait_resolved'] },
  }),
  coded('flow-waits-at-once', waitingForBoth, {
    operations: [
      delivers('built', 'flow-waits-at-once', green, { when: waitsForBuild }),
      decides('flow[release]', approve),
    ],
    ends: { status: 'completed', shows: ['wait_resolved'] },
  }),
  coded('flow-rejected', askingOrNot, {
    operations: [decides('flow[release]', { decision: 'reject', note: 'not like this' })],
    ends: completed,
  }),
  coded('flow-rejected-uncaught', asking, {
    operations: [decides('flow[release]', { decision: 'reject' })],
    ends: { status: 'failed', errorCode: 'APPROVAL_REJECTED' },
  }),
  coded('flow-halted', asking, {
    operations: [decides('flow[release]', { decision: 'halt' })],
    ends: { status: 'cancelled' },
  }),
  coded('flow-approval-expires', (stage) => askingOrNot(stage, limited), {
    ends: { status: 'completed', shows: ['wait_expired'] },
  }),
  coded(
    'flow-approval-expires-into-approval',
    (stage) => asking(stage, { ...limited, onExpiry: 'approve' }),
    {
      ends: { status: 'completed', shows: ['wait_expired'] },
    },
  ),
  coded('flow-sent-back', reviewed, {
    operations: [
      decides('gate', {
        decision: 'retry_with_feedback',
        feedback: 'shorter',
        steps: ['flow'],
        waitId: 'gate.1',
      }),
      decides('gate', { decision: 'approve', waitId: 'gate.2' }, secondGate),
    ],
    ends: { status: 'completed', shows: ['feedback_given'] },
  }),
  coded('flow-moments', timing, { judgedByEnd: true, ends: completed }),
  coded('flow-suspended', sleeping, {
    operations: suspends((view) => view.waitsAt('flow[nap]'), LATER_MS),
    ends: { status: 'completed', shows: ['suspend_requested', 'continue_requested'] },
  }),
  coded('flow-paused', sleeping, {
    operations: holds({ type: 'flow-paused' }, (view) => view.waitsAt('flow[nap]'), LATER_MS),
    ends: completed,
  }),
  coded('flow-child-fails', parentOfFailing, {
    called: kid,
    ends: { status: 'completed', others: ['kid: failed'] },
  }),
  coded('flow-child-cancelled', parent, {
    called: kid,
    operations: [cancels(waitsForKid, { atMs: LATER_MS })],
    ends: { status: 'cancelled', others: ['kid: cancelled'] },
  }),
  coded('flow-child-abandoned', (stage) => parent(stage, { onParentEnd: 'abandon' }), {
    called: kid,
    operations: [cancels(waitsForKid, { atMs: LATER_MS })],
    ends: { status: 'cancelled', others: ['kid: completed'] },
  }),
  coded('flow-child-outrun', racingChild, {
    called: kid,
    ends: { status: 'completed', others: ['kid: cancelled'] },
  }),
];
