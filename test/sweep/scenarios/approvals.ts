/** Approvals: each decision, no decision, a run that is busy meanwhile, and steps that are sent back. */
import { z } from 'zod';
import type { ApprovalOptions, Needs } from '../../../packages/cairn/src/engine/define/types.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import type { Scenario, Stage, View } from '../scenario.ts';
import { cancels, decides } from './operations.ts';

const input = z.object({});
type Options = Partial<ApprovalOptions<Record<never, never>, Needs>>;

const asking = (stage: Stage, options: Options = {}) =>
  defineWorkflow({
    type: 'asking',
    planVersion: 1,
    input,
    steps(step) {
      const draft = step('draft', async (c) => {
        await stage.acts(c);
        return `draft ${c.revision}${c.feedback === undefined ? '' : `, ${c.feedback}`}`;
      });
      const gate = step.approval('gate', {
        ...(options as object),
        needs: { draft },
        ask: ({ draft }) => ({ question: 'Publish?', details: { draft } }),
      });
      const publish = step(
        'publish',
        { needs: { draft, gate }, ifSkipped: 'run' },
        async ({ draft, gate, ...c }) => {
          await stage.acts(c, 50);
          return `${draft}: ${gate?.decision ?? 'not asked'}`;
        },
      );
      return { publish };
    },
  });

const askingWhileBusy = (stage: Stage) =>
  defineWorkflow({
    type: 'asking-while-busy',
    planVersion: 1,
    input,
    steps(step) {
      const gate = step.approval('gate', { ask: () => 'Go on?' });
      const work = step('work', async (c) => {
        await stage.acts(c, 9_000);
        return 'worked';
      });
      const after = step('after', { needs: { gate } }, async ({ gate, ...c }) => {
        await stage.acts(c);
        return gate.decision;
      });
      return { work, after };
    },
  });

const reviewing = (stage: Stage) =>
  defineWorkflow({
    type: 'reviewing',
    planVersion: 1,
    input,
    steps(step) {
      const files = step('files', async (c) => {
        await stage.acts(c);
        return ['a', 'b', 'c'];
      });
      const notes = step.map(
        'note',
        { needs: { files }, over: ({ files }) => files, concurrency: 2 },
        async ({ item, ...c }) => {
          await stage.acts(c, 50);
          return `${item}${c.revision}${c.feedback ?? ''}`;
        },
      );
      const gate = step.approval('gate', { needs: { notes }, ask: ({ notes }) => notes.join() });
      const other = step('other', { needs: { files } }, async (c) => {
        await stage.acts(c, 4_000);
        return 'untouched';
      });
      // The step is running when it is sent back with its source.
      const polish = step('polish', { needs: { notes } }, async ({ notes, ...c }) => {
        await stage.acts(c, 6_000);
        return notes.length * c.revision;
      });
      return { notes, gate, other, polish };
    },
  });

const secondGate = {
  name: 'decide again',
  when: ({ run, wasAnswered }: View) =>
    wasAnswered('decide gate') && (run?.waits.some(({ id }) => id === 'gate.2') ?? false),
};

const base = { workflows: (stage: Stage) => [asking(stage)], start: { type: 'asking' } } as const;
const limited = (options: Options) => ({
  workflows: (stage: Stage) => [asking(stage, { timeout: '2h', ...options })],
  start: { type: 'asking' },
});

export const approvalScenarios: readonly Scenario[] = [
  {
    ...base,
    name: 'approve',
    operations: [decides('gate', { decision: 'approve' })],
    ends: { status: 'completed', shows: ['wait_resolved'] },
    pairs: true,
  },
  {
    ...base,
    name: 'approve-with-waiver',
    operations: [decides('gate', { decision: 'approve_with_waiver', note: 'this once' })],
    ends: { status: 'completed' },
  },
  {
    ...base,
    name: 'reject',
    operations: [decides('gate', { decision: 'reject', note: 'not like this' })],
    ends: { status: 'failed', errorCode: 'APPROVAL_REJECTED' },
    pairs: true,
  },
  {
    name: 'reject-and-skip',
    ...limited({ onFailure: 'skip' }),
    operations: [decides('gate', { decision: 'reject' })],
    ends: { status: 'completed', shows: ['step_skipped'] },
  },
  {
    ...base,
    name: 'halt',
    operations: [decides('gate', { decision: 'halt' })],
    ends: { status: 'cancelled' },
    pairs: true,
  },
  {
    ...base,
    name: 'feedback',
    operations: [
      decides('gate', { decision: 'retry_with_feedback', feedback: 'shorter', waitId: 'gate.1' }),
      decides('gate', { decision: 'approve', waitId: 'gate.2' }, secondGate),
    ],
    ends: { status: 'completed', shows: ['feedback_given'] },
    pairs: true,
  },
  {
    name: 'feedback-on-items',
    workflows: (stage) => [reviewing(stage)],
    start: { type: 'reviewing' },
    operations: [
      decides('gate', {
        decision: 'retry_with_feedback',
        feedback: '!',
        steps: ['note'],
        waitId: 'gate.1',
      }),
      decides('gate', { decision: 'approve', waitId: 'gate.2' }, secondGate),
    ],
    ends: { status: 'completed', shows: ['feedback_given'] },
  },
  {
    name: 'approval-expires',
    ...limited({}),
    ends: { status: 'failed', errorCode: 'APPROVAL_EXPIRED', shows: ['wait_expired'] },
  },
  {
    name: 'approval-expires-into-approval',
    ...limited({ onExpiry: 'approve' }),
    ends: { status: 'completed', shows: ['wait_expired'] },
  },
  {
    name: 'approval-expires-into-halt',
    ...limited({ onExpiry: 'halt' }),
    ends: { status: 'cancelled', shows: ['wait_expired'] },
  },
  {
    name: 'approve-while-busy',
    workflows: (stage) => [askingWhileBusy(stage)],
    start: { type: 'asking-while-busy' },
    operations: [decides('gate', { decision: 'approve' })],
    ends: { status: 'completed', shows: ['wait_resolved'] },
    pairs: true,
  },
  {
    ...base,
    name: 'cancel-asking',
    operations: [cancels((view) => view.waitsAt('gate'))],
    ends: { status: 'cancelled' },
  },
];
