import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { Fatal } from '../../../packages/cairn/src/core/errors.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { decideApproval } from '../../../packages/cairn/src/operations/approvals/decide-approval.ts';
import { deliverEvent } from '../../../packages/cairn/src/operations/events/deliver-event.ts';
import { assertStored } from '../../support/soundness.ts';
import { depsOf, driven, preview, resultOf, reusedIn, said, succeed } from '../../support/successors.ts';
import { World } from '../../support/world.ts';

const input = z.unknown();
const ANN = { tenantId: 't1', actor: 'u.ann' };

/** Records of the bodies of a test, and their behaviour. */
function stage() {
  return { mended: false, ran: [] as string[] };
}

/** Drives the run until it asks at the step, or ends. */
function toRest(world: World, runId: string): Promise<void> {
  const resting = ['awaiting_approval', 'waiting_external', 'completed', 'failed', 'cancelled'];
  return world.run(() => resting.includes(world.stateOf(runId).status));
}

describe('a successor of a run with a set', () => {
  const fan = (on: ReturnType<typeof stage>) =>
    defineWorkflow({
      type: 'fan',
      planVersion: 1,
      input,
      steps: (step) => ({
        all: step.map('all', { over: () => ['a', 'b', 'c'], concurrency: 1 }, ({ item, index }) => {
          on.ran.push(item);
          if (index === 1 && !on.mended) throw new Fatal('b is broken');
          return item.toUpperCase();
        }),
      }),
    });

  test('in which one item failed runs that item and those that never began', async () => {
    const on = stage();
    const world = new World({ workflows: [fan(on)] });
    const runId = await world.start('fan');
    await world.run();
    expect(on.ran).toEqual(['a', 'b']);
    on.mended = true;
    const state = await driven(world, 'resume', runId);
    expect(on.ran.slice(2)).toEqual(['b', 'c']);
    expect(reusedIn(world, state.id)).toEqual(['all[0]']);
    expect(await resultOf(world, state)).toEqual({ all: ['A', 'B', 'C'] });
  });
});

describe('a successor of a run with a skipped step', () => {
  test('keeps the steps that were skipped with it, and reuses those that ran without it', async () => {
    const on = stage();
    const workflow = defineWorkflow({
      type: 'skipping',
      planVersion: 1,
      input,
      steps(step) {
        const maybe = step('maybe', { when: () => false }, () => 1);
        const follows = step('follows', { needs: { maybe } }, () => 2);
        const anyway = step('anyway', { needs: { maybe }, ifSkipped: 'run' }, ({ maybe }) => maybe ?? 'none');
        const last = step('last', { needs: { anyway, follows }, ifSkipped: 'run' }, ({ anyway, follows }) => {
          if (!on.mended) throw new Fatal('no');
          return [anyway, follows ?? 'none'];
        });
        return { last };
      },
    });
    const world = new World({ workflows: [workflow] });
    const runId = await world.start('skipping');
    await world.run();
    on.mended = true;
    const state = await driven(world, 'resume', runId);
    expect(await resultOf(world, state)).toEqual({ last: ['none', 'none'] });
    expect(reusedIn(world, state.id).sort()).toEqual(['anyway', 'follows', 'maybe']);
    expect(state.steps.get('maybe')).toMatchObject({ outcome: 'skipped' });
    const { items } = await world.store.listSteps(state.id, { limit: 10 });
    expect(items.map(({ id, status }) => [id, status])).toContainEqual(['maybe', 'skipped']);
  });
});

describe('a successor of a run with waits', () => {
  const gated = (on: ReturnType<typeof stage>) =>
    defineWorkflow({
      type: 'gated',
      planVersion: 1,
      input,
      steps(step) {
        const night = step.sleep('night', { for: '8h' });
        const gate = step.approval('gate', { needs: { night }, ask: () => 'Go?' });
        const built = step.event('built', { event: 'built', key: () => 'main' });
        const ship = step('ship', { needs: { gate, built } }, ({ gate, built }) => {
          if (!on.mended) throw new Fatal('no');
          return [gate.decision, built];
        });
        return { ship };
      },
    });

  async function failedAfterAll(world: World): Promise<string> {
    const runId = await world.start('gated');
    await world.run(() => world.stateOf(runId).waits.some(({ kind }) => kind === 'approval'));
    const deps = { ...depsOf(world), mailboxes: world.mailboxes };
    await decideApproval(deps, { ...ANN, runId, stepId: 'gate', decision: 'approve' });
    const event = { event: 'built', key: 'main', data: { sha: 'abc' }, eventId: 'e1' };
    await deliverEvent(deps, { ...event, tenantId: 't1', actor: 'u.ann' });
    await world.run();
    return runId;
  }

  test('keeps decisions, received events and elapsed time', async () => {
    const on = stage();
    const world = new World({ workflows: [gated(on)] });
    const runId = await failedAfterAll(world);
    on.mended = true;
    const now = world.clock.now();
    const state = await driven(world, 'resume', runId);
    expect(await resultOf(world, state)).toEqual({ ship: ['approve', { sha: 'abc' }] });
    expect(reusedIn(world, state.id).sort()).toEqual(['built', 'gate', 'night']);
    expect((state.completedAt ?? 0) - now).toBeLessThan(60_000);
    // No question and no wait is opened.
    expect(said(world, state.id, 'wait_opened')).toEqual([]);
  });

  test('asks again where the asking step runs again', async () => {
    const on = stage();
    const world = new World({ workflows: [gated(on)] });
    const runId = await failedAfterAll(world);
    on.mended = true;
    const replay = await succeed(world, 'replay', runId, { from: { step: 'gate' } });
    await toRest(world, replay);
    const asking = assertStored(world.db, replay);
    expect(asking.waits).toMatchObject([{ id: 'gate.1', kind: 'approval' }]);
    await decideApproval(depsOf(world), { ...ANN, runId: replay, stepId: 'gate', decision: 'approve' });
    await world.run();
    expect(assertStored(world.db, replay).status).toBe('completed');
    expect(reusedIn(world, replay).sort()).toEqual(['built', 'night']);
  });
});

describe('a successor of a run with steps that a person sent back', () => {
  const drafting = (on: ReturnType<typeof stage>) =>
    defineWorkflow({
      type: 'drafting',
      planVersion: 1,
      input,
      steps(step) {
        const draft = step('draft', ({ revision, feedback }) => {
          on.ran.push(`draft ${revision} ${feedback ?? ''}`);
          return `draft ${revision}`;
        });
        const gate = step.approval('gate', { needs: { draft }, ask: ({ draft }) => draft });
        const send = step('send', { needs: { draft, gate } }, ({ draft }) => {
          if (!on.mended) throw new Fatal('no');
          return draft;
        });
        return { send };
      },
    });

  async function sentBackOnce(world: World): Promise<string> {
    const runId = await world.start('drafting');
    await toRest(world, runId);
    const deps = depsOf(world);
    const at = { ...ANN, runId, stepId: 'gate' } as const;
    await decideApproval(deps, {
      ...at,
      decision: 'retry_with_feedback',
      steps: ['draft'],
      feedback: 'shorter',
    });
    await world.run(() => world.stateOf(runId).waits.some(({ id }) => id === 'gate.2'));
    await toRest(world, runId);
    await decideApproval(deps, { ...at, decision: 'approve' });
    await world.run();
    return runId;
  }

  test('reuses the newest revision', async () => {
    const on = stage();
    const world = new World({ workflows: [drafting(on)] });
    const runId = await sentBackOnce(world);
    on.mended = true;
    const state = await driven(world, 'resume', runId);
    expect(await resultOf(world, state)).toEqual({ send: 'draft 2' });
    expect(said(world, state.id, 'step_reused').map(({ stepId, revision }) => [stepId, revision])).toEqual([
      ['draft', 2],
      ['gate', 2],
    ]);
    const again = await driven(world, 'fork', state.id);
    // The successor of the successor reuses it too, because feedback is part of the inputs of a step.
    expect(reusedIn(world, again.id)).toEqual(['draft', 'gate', 'send']);
  });

  test('runs a step again with its revision and its feedback', async () => {
    const on = stage();
    const world = new World({ workflows: [drafting(on)] });
    const runId = await sentBackOnce(world);
    on.mended = true;
    on.ran.length = 0;
    const replay = await succeed(world, 'replay', runId);
    await toRest(world, replay);
    expect(on.ran).toEqual(['draft 2 shorter']);
    const { waits, feedback } = assertStored(world.db, replay);
    expect([waits.map(({ id }) => id), feedback.map(({ steps, text }) => [steps, text])]).toEqual([
      ['gate.2'],
      [[['draft', 'gate', 'send'], 'shorter']],
    ]);
  });

  test('uses the revision of that time when it starts from an earlier checkpoint', async () => {
    const on = stage();
    const world = new World({ workflows: [drafting(on)] });
    const runId = await sentBackOnce(world);
    const { events = [] } = world.db.runs.get(runId) ?? {};
    const checkpoint = events.find(({ type }) => type === 'step_succeeded')?.seq ?? 0;
    const fork = await succeed(world, 'fork', runId, { from: { checkpoint } });
    const { checkpointId } = assertStored(world.db, fork).source ?? {};
    expect([Number(checkpointId), events[Number(checkpointId) - 1]?.type]).toEqual([
      checkpoint,
      'step_succeeded',
    ]);
    await toRest(world, fork);
    expect(said(world, fork, 'step_reused')).toMatchObject([{ stepId: 'draft', revision: 1 }]);
  });
});

describe('a successor of a run with undone steps', () => {
  const booking = (on: ReturnType<typeof stage>) =>
    defineWorkflow({
      type: 'booking',
      planVersion: 1,
      input,
      steps(step) {
        const find = step('find', () => 'f');
        const book = step(
          'book',
          { needs: { find }, compensate: () => void on.ran.push('undo book') },
          ({ revision }) => {
            on.ran.push(`book ${revision}`);
            return revision;
          },
        );
        const pay = step('pay', { needs: { book } }, ({ book }) => {
          if (!on.mended) throw new Fatal('no money');
          return `paid for ${book}`;
        });
        return { pay };
      },
    });

  test('runs everything as the next revision, because an undone step does not count as done', async () => {
    const on = stage();
    const world = new World({ workflows: [booking(on)] });
    const runId = await world.start('booking');
    await world.run();
    expect(on.ran).toEqual(['book 1', 'undo book']);
    on.mended = true;
    expect((await preview(world, 'resume', runId)).steps).toMatchObject([
      { id: 'find', action: 'reused' },
      { id: 'book', action: 'runs', why: 'undone', revision: 2 },
      { id: 'pay', action: 'runs', why: 'failed', revision: 1 },
    ]);
    const state = await driven(world, 'resume', runId);
    expect(on.ran.slice(2)).toEqual(['book 2']);
    expect(await resultOf(world, state)).toEqual({ pay: 'paid for 2' });
  });

  test('that fails in turn undoes the steps it reused, and each later one continues the revisions', async () => {
    const on = stage();
    const world = new World({ workflows: [booking(on)] });
    on.mended = true;
    const runId = await world.start('booking');
    await world.run();
    on.mended = false;
    on.ran.length = 0;
    const replay = await driven(world, 'replay', runId, { from: { step: 'pay' } });
    expect([replay.status, on.ran]).toEqual(['failed', ['undo book']]);
    expect(reusedIn(world, replay.id)).toEqual(['find', 'book']);
    const resumed = await driven(world, 'resume', replay.id);
    expect([resumed.status, on.ran.slice(1)]).toEqual(['failed', ['book 2', 'undo book']]);
    const again = await driven(world, 'resume', resumed.id);
    expect([again.status, on.ran.slice(3)]).toEqual(['failed', ['book 3', 'undo book']]);
  });

  test('runs a step whose compensation failed, and the preview says why', async () => {
    const on = stage();
    const workflow = defineWorkflow({
      type: 'stuck',
      planVersion: 1,
      input,
      steps(step) {
        const undo = () => {
          throw new Fatal('they keep the money');
        };
        const book = step('book', { compensate: undo }, () => 1);
        return {
          pay: step('pay', { needs: { book } }, () => {
            if (!on.mended) throw new Fatal('no');
            return 1;
          }),
        };
      },
    });
    const world = new World({ workflows: [workflow] });
    const runId = await world.start('stuck');
    await world.run();
    const { steps } = await preview(world, 'resume', runId);
    expect(steps[0]).toMatchObject({ id: 'book', action: 'runs', why: 'undo_failed', revision: 2 });
  });
});

describe('by comparing fingerprints,', () => {
  const adding = (planVersion: number) =>
    defineWorkflow({
      type: 'adding',
      planVersion,
      input: z.object({ n: z.number() }),
      steps(step) {
        const one = step('one', ({ input }) => input.n);
        return { two: step('two', { needs: { one } }, ({ one }) => one + 1) };
      },
    });

  test('a fork without a change reuses everything, and has the same result', async () => {
    const world = new World({ workflows: [adding(1)] });
    const runId = await world.start('adding', { n: 1 });
    await world.run();
    const fork = await driven(world, 'fork', runId);
    expect([fork.status, reusedIn(world, fork.id)]).toEqual(['completed', ['one', 'two']]);
    expect(await resultOf(world, fork)).toEqual({ two: 2 });
  });

  test('a fork with other input, or of another version of the plan, reuses nothing', async () => {
    const world = new World({ workflows: [adding(1), adding(2)] });
    const runId = await world.start('adding', { n: 1 }, { workflow: adding(1) });
    await world.run();
    const other = await driven(world, 'fork', runId, { input: { value: { n: 5 } } });
    expect([await resultOf(world, other), reusedIn(world, other.id)]).toEqual([{ two: 6 }, []]);
    expect(
      (await preview(world, 'fork', runId, { planVersion: 2 })).steps.map((s) => 'why' in s && s.why),
    ).toEqual(['changed', 'needs_run']);
    const newer = await driven(world, 'fork', runId, { planVersion: 2 });
    expect([newer.planVersion, await resultOf(world, newer)]).toEqual([2, { two: 2 }]);
  });
});
