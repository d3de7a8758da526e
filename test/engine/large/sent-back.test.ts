import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { Fatal } from '../../../packages/cairn/src/core/errors.ts';
import { MAX_NAMED_BYTES } from '../../../packages/cairn/src/core/run/bounded.ts';
import type { EventDraft, RunEvent } from '../../../packages/cairn/src/core/run/events.ts';
import { feedbackFor } from '../../../packages/cairn/src/core/run/state.ts';
import type { Handle } from '../../../packages/cairn/src/engine/define/types.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { decideApproval } from '../../../packages/cairn/src/operations/approvals/decide-approval.ts';
import { beginning, claim, move, succeeded, T0 } from '../../conformance/support/run-fixture.ts';
import { asFirestoreTakes } from '../../support/document-sizes.ts';
import { assertStored } from '../../support/soundness.ts';
import { succeed } from '../../support/successors.ts';
import { World } from '../../support/world.ts';

const STEPS = 2_800;
const idOf = (i: number) => `step-${i}-`.padEnd(100, 'x');

test('thousands of steps are sent back by one decision, run again, and are reused by a resume', async () => {
  const cause = { broken: true };
  const workflow = defineWorkflow({
    type: 'sent-back',
    planVersion: 1,
    input: z.object({}),
    steps(step) {
      const first = step(idOf(0), ({ revision }): number => {
        if (revision > 1 && cause.broken) throw new Fatal('broken');
        return 0;
      });
      const arms: Handle<number>[] = [];
      for (let i = 1; i < STEPS; i += 1) arms.push(step(idOf(i), { needs: { first } }, () => i));
      const needs = Object.fromEntries(arms.map((arm, i) => [`n${i}`, arm] as const));
      const gate = step.approval('gate', { needs, ask: () => 'Well?' });
      return { end: step('end', { needs: { gate } }, () => 'done') };
    },
  });
  const world = new World({ workflows: [workflow], settings: { concurrentSteps: 500 } });
  const { store } = asFirestoreTakes(world.store);
  const deps = { ...world.deps, store };
  const runId = await world.start('sent-back');
  const asks = () => world.db.runs.get(runId)?.snapshot.status === 'awaiting_approval';
  await world.run(asks, deps);
  const steps = [idOf(0)];
  const said = { runId, tenantId: 't1', actor: 'u.ann', stepId: 'gate' };
  const feedback = 'more of it';
  await decideApproval(deps, { ...said, decision: 'retry_with_feedback', feedback, steps });
  await world.run(undefined, deps);
  const state = assertStored(world.db, runId);
  expect(state).toMatchObject({ status: 'failed', error: { message: 'broken' } });
  const events = await world.store.readEvents(runId, 0, 100_000);
  const sent = events.filter((event): event is RunEvent<'feedback_given'> => event.type === 'feedback_given');
  expect(sent.length).toBeGreaterThan(1);
  expect(sent.flatMap(({ data }) => data.again)).toHaveLength(STEPS + 2);
  for (const { data } of sent) expect(JSON.stringify(data).length).toBeLessThan(MAX_NAMED_BYTES + 2_000);
  expect(sent.map(({ seq }) => seq)).toEqual(sent.map((_, i) => Number(sent[0]?.seq) + i));

  cause.broken = false;
  const successor = await succeed(world, 'resume', runId);
  const isAsked = () => world.db.runs.get(successor)?.snapshot.status === 'awaiting_approval';
  await world.run(isAsked, deps);
  const resumed = world.stateOf(successor);
  expect(resumed.steps.get(idOf(STEPS - 1))).toMatchObject({ phase: 'done', revision: 2 });
  expect(feedbackFor(resumed, idOf(STEPS - 1))).toBe(feedback);
  const replays = (await world.store.readEvents(successor, 0, 100_000)).filter(
    (event): event is RunEvent<'replay_started'> => event.type === 'replay_started',
  );
  expect(replays.length).toBeGreaterThan(1);
  expect(replays.map(({ data, schemaVersion }) => [data.more ?? false, schemaVersion])).toEqual(
    replays.map((_, i) => [i > 0, i > 0 ? 2 : 1]),
  );
  await decideApproval(deps, { ...said, runId: successor, decision: 'approve' });
  await world.run(undefined, deps);
  expect(assertStored(world.db, successor).status).toBe('completed');
});

describe('a decision recorded as several events', () => {
  const ids = Array.from({ length: 12 }, (_, i) => `s${i}`);
  const start = beginning('run_1').state;
  const { after: running } = move(start, [
    ...claim(start, T0 + 1_000),
    ...ids.slice(0, 8).map((id) => succeeded(id)),
  ]);
  const given = (again: readonly string[], steps: readonly string[]): EventDraft => ({
    type: 'feedback_given',
    initiator: 'approval',
    actor: 'u.ann',
    data: {
      waitId: 'gate.1',
      steps,
      again,
      feedback: 'more',
      ...(again.includes('s3') ? { undoable: ['s3'] } : {}),
    },
  });

  test('folds to the state of a single event, except for its numbers', () => {
    const one = move(running, [given(ids, ['s0'])]).after;
    const several = move(running, [given(ids.slice(0, 5), ['s0']), given(ids.slice(5), [])]).after;
    const comparable = (state: typeof one) => ({
      steps: ids.map((id) => [id, state.steps.get(id)?.phase, state.steps.get(id)?.revision]),
      sentBack: state.sentBack,
      waits: state.waits,
      feedback: ids.map((id) => feedbackFor(state, id)),
    });
    expect(comparable(several)).toEqual(comparable(one));
  });

  test('a replay that begins within it has the revisions and the feedback of all', () => {
    const of = beginning('run_2', {
      identity: { source: { runId: 'run_1', mode: 'replay' } },
    }).state;
    const begins = (revisions: Record<string, number>, more: boolean): EventDraft => ({
      type: 'replay_started',
      initiator: 'system',
      data: {
        mode: 'replay',
        from: 'run_1',
        revisions,
        feedback: Object.keys(revisions).map((id) => ({ steps: [id], text: `of ${id}` })),
        ...(more ? { more: true } : {}),
      },
    });
    const { after } = move(of, [...claim(of, T0 + 1_000), begins({ s0: 2 }, false), begins({ s1: 3 }, true)]);
    expect(after).toMatchObject({ status: 'replaying', replay: 'under_way' });
    expect([after.steps.get('s0')?.revision, after.steps.get('s1')?.revision]).toEqual([2, 3]);
    expect([feedbackFor(after, 's0'), feedbackFor(after, 's1')]).toEqual(['of s0', 'of s1']);
  });
});
