/** Events and signals: while the run waits, before, while it is busy, never, invalid, and after its end. */
import { z } from 'zod';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import type { Scenario, Stage } from '../scenario.ts';
import { beats, cancels, delivers, failsWait, signals } from './operations.ts';

const input = z.object({});
const Build = z.object({ green: z.boolean() });

interface Shape {
  /** Time of the step before the wait. */
  readonly ms?: number;
  readonly timeout?: string;
  readonly within?: string;
  /** True if the event need not be sent. */
  readonly degrades?: true;
}

const waiting = (stage: Stage, { ms = 0, timeout, within, degrades }: Shape = {}) =>
  defineWorkflow({
    type: 'waiting',
    planVersion: 1,
    input,
    steps(step) {
      const before = step('before', async (c) => {
        await stage.acts(c, ms);
        return 'sha1';
      });
      const build = step.event('build', {
        needs: { before },
        event: 'built',
        key: ({ before }) => before,
        output: Build,
        ...(timeout === undefined ? {} : { timeout }),
        ...(within === undefined ? {} : { heartbeat: { within } }),
        ...(degrades ? { onFailure: { degradeTo: { green: false } } } : {}),
      });
      const after = step('after', { needs: { build } }, async ({ build, ...c }) => {
        await stage.acts(c, 50);
        return build.green;
      });
      return { after };
    },
  });

const waitingWhileBusy = (stage: Stage) =>
  defineWorkflow({
    type: 'waiting-while-busy',
    planVersion: 1,
    input,
    steps(step) {
      const build = step.event('build', { event: 'built', key: () => 'sha1', output: Build });
      const work = step('work', async (c) => {
        await stage.acts(c, 9_000);
        return 'worked';
      });
      const after = step('after', { needs: { build } }, async ({ build, ...c }) => {
        await stage.acts(c);
        return build.green;
      });
      return { work, after };
    },
  });

const green = { green: true };
const MINUTE_MS = 60_000;

export const eventScenarios: readonly Scenario[] = [
  {
    name: 'event',
    workflows: (stage) => [waiting(stage)],
    start: { type: 'waiting' },
    operations: [delivers('built', 'sha1', green, { when: (view) => view.waitsAt('build') })],
    ends: { status: 'completed', shows: ['wait_resolved'] },
    pairs: true,
  },
  {
    name: 'event-early',
    workflows: (stage) => [waiting(stage, { ms: 2_000 })],
    start: { type: 'waiting' },
    operations: [delivers('built', 'sha1', green)],
    ends: { status: 'completed', shows: ['wait_resolved'] },
    pairs: true,
  },
  {
    name: 'event-while-busy',
    workflows: (stage) => [waitingWhileBusy(stage)],
    start: { type: 'waiting-while-busy' },
    operations: [delivers('built', 'sha1', green, { when: (view) => view.waitsAt('build') })],
    ends: { status: 'completed', shows: ['wait_resolved'] },
  },
  {
    name: 'event-that-never-comes',
    workflows: (stage) => [waiting(stage, { timeout: '2h' })],
    start: { type: 'waiting' },
    ends: { status: 'failed', errorCode: 'STEP_TIMEOUT', shows: ['wait_expired'] },
  },
  {
    name: 'event-done-without',
    workflows: (stage) => [waiting(stage, { timeout: '2h', degrades: true })],
    start: { type: 'waiting' },
    ends: { status: 'completed', shows: ['wait_expired', 'step_degraded'] },
  },
  {
    name: 'event-failed-from-outside',
    workflows: (stage) => [waiting(stage)],
    start: { type: 'waiting' },
    operations: [failsWait('build')],
    ends: { status: 'failed', errorCode: 'EVENT_FAILED', shows: ['wait_resolved'] },
  },
  {
    name: 'event-kept-alive',
    workflows: (stage) => [waiting(stage, { within: '1h' })],
    start: { type: 'waiting' },
    operations: [beats('build', 40 * MINUTE_MS), delivers('built', 'sha1', green, { atMs: 80 * MINUTE_MS })],
    ends: { status: 'completed', shows: ['wait_heartbeat', 'wait_resolved'] },
  },
  {
    name: 'event-whose-sender-falls-silent',
    workflows: (stage) => [waiting(stage, { within: '1h', timeout: '1d' })],
    start: { type: 'waiting' },
    operations: [beats('build', 40 * MINUTE_MS)],
    ends: { status: 'failed', errorCode: 'HEARTBEAT_MISSED', shows: ['wait_heartbeat', 'wait_expired'] },
  },
  {
    name: 'event-not-as-expected',
    workflows: (stage) => [waiting(stage)],
    start: { type: 'waiting' },
    operations: [
      delivers('built', 'sha1', 'what?', { name: 'wrong', when: (view) => view.waitsAt('build') }),
      delivers('built', 'sha1', green, { name: 'right', when: (view) => view.wasAnswered('wrong') }),
    ],
    ends: { status: 'completed', shows: ['wait_resolved'] },
  },
  {
    name: 'event-after-cancel',
    workflows: (stage) => [waiting(stage)],
    start: { type: 'waiting' },
    operations: [
      cancels((view) => view.waitsAt('build')),
      delivers('built', 'sha1', green, { when: ({ run }) => run?.status === 'cancelled' }),
    ],
    ends: { status: 'cancelled' },
  },
  {
    name: 'cancel-waiting',
    workflows: (stage) => [waiting(stage)],
    start: { type: 'waiting' },
    operations: [cancels((view) => view.waitsAt('build'))],
    ends: { status: 'cancelled' },
  },
  {
    name: 'signal',
    workflows: (stage) => [waiting(stage)],
    start: { type: 'waiting' },
    operations: [signals('built', green, { when: (view) => view.waitsAt('build') })],
    ends: { status: 'completed', shows: ['wait_resolved'] },
    pairs: true,
  },
  {
    name: 'signal-early',
    workflows: (stage) => [waiting(stage, { ms: 2_000 })],
    start: { type: 'waiting' },
    operations: [signals('built', green)],
    ends: { status: 'completed', shows: ['signal_received', 'wait_resolved'] },
  },
];
