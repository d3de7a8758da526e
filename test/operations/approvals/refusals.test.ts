import { describe, expect, test } from '@jest/globals';
import { WorkflowRegistry } from '../../../packages/cairn/src/engine/define/registry.ts';
import type { DecideRequest } from '../../../packages/cairn/src/operations/approvals/request.ts';
import { cancelRun } from '../../../packages/cairn/src/operations/cancel-run.ts';
import { intercept } from '../../support/intercept.ts';
import { HOUR_MS, Scene } from './scene.ts';

type Said = [DecideRequest['decision'], Partial<DecideRequest>?];

/** Asserts that the decision is refused, and that nothing is written or enqueued. */
async function refused(scene: Scene, [decision, more]: Said): Promise<object> {
  scene.tasks();
  const { head } = scene.state;
  const error = await scene.decide(decision, more).then(
    () => {
      throw new Error('it was accepted');
    },
    (reason: object) => reason,
  );
  expect(scene.state.head).toBe(head);
  expect(scene.tasks()).toBe(0);
  return error;
}

const EVERY: readonly Said[] = [
  ['approve'],
  ['approve_with_waiver', { note: 'n' }],
  ['reject', { note: 'n' }],
  ['halt'],
  ['retry_with_feedback', { feedback: 'f' }],
];
/** Used in test titles. */
const named = EVERY.map((said) => [said[0], said] as const);

describe('the same decision twice', () => {
  test.each(named)(
    '%s: repeats the first answer to every caller, and writes nothing',
    async (_, expected) => {
      const scene = await Scene.asking();
      const first = await scene.decide(...expected);
      scene.world.clock.jump(2 * HOUR_MS);
      const { head } = scene.state;
      const [decision, more] = expected;
      for (const changes of [{}, { actor: 'c.bob' }, { waitId: 'gate.1' }]) {
        expect(await scene.decide(decision, { ...more, ...changes })).toEqual(first);
      }
      expect(scene.state.head).toBe(head);
    },
  );

  test('also after the run has ended', async () => {
    const scene = await Scene.asking();
    const first = await scene.decide('approve');
    await cancelRun(scene.world.deps, { runId: scene.runId, tenantId: 't1', stopKind: 'user' });
    expect(scene.state.status).toBe('cancelled');
    expect(await scene.decide('approve')).toEqual(first);
    expect(await refused(scene, ['reject'])).toMatchObject({ code: 'APPROVAL_DECIDED' });
  });

  test('also where the plan version is no longer deployed', async () => {
    const scene = await Scene.asking();
    const first = await scene.decide('approve');
    const registry = new WorkflowRegistry([]);
    expect(await scene.decide('approve', {}, { registry })).toEqual(first);
  });
});

describe('another decision', () => {
  const pairs = named.flatMap(([a, first]) => named.map(([b, second]) => [a, b, first, second] as const));

  test.each(pairs.filter(([a, b]) => a !== b))(
    'after %s: %s is refused, and the refusal names the first decider and the decision',
    async (a, _, first, second) => {
      const scene = await Scene.asking();
      await scene.decide(...first);
      const decidedAt = new Date(scene.now).toISOString();
      scene.world.clock.jump(60_000);
      expect(await refused(scene, [second[0], { ...second[1], actor: 'c.bob' }])).toMatchObject({
        code: 'APPROVAL_DECIDED',
        httpStatus: 409,
        stepId: 'gate',
        details: { waitId: 'gate.1', decision: a, decidedBy: 'c.ada', decidedAt },
      });
    },
  );

  test('counts as the same decision if only its note differs', async () => {
    const scene = await Scene.asking();
    await scene.decide('approve', { note: 'one' });
    expect(await refused(scene, ['approve', { note: 'two' }])).toMatchObject({ code: 'APPROVAL_DECIDED' });
    expect(await refused(scene, ['approve'])).toMatchObject({ code: 'APPROVAL_DECIDED' });
  });

  test('does not decide a later question, which its author has not seen', async () => {
    const scene = await Scene.asking();
    const { store } = scene.world;
    const overtaken = intercept(store, async ({ method }, proceed) => {
      if (method === 'commit' && scene.state.waits[0]?.id === 'gate.1') {
        await scene.decide('retry_with_feedback', { feedback: 'no', actor: 'c.bob' });
        await scene.claim();
        await scene.done('review', { revision: 2 });
        await scene.open('gate');
      }
      return proceed();
    });
    await expect(scene.decide('approve', {}, { store: overtaken })).rejects.toMatchObject({
      code: 'APPROVAL_DECIDED',
      details: { waitId: 'gate.1', decision: 'retry_with_feedback', decidedBy: 'c.bob' },
    });
    expect(scene.state.waits).toMatchObject([{ id: 'gate.2' }]);
  });

  test('counts as the same decision if its steps only have another order', async () => {
    const scene = await Scene.asking();
    const feedback = 'f';
    const first = await scene.decide('retry_with_feedback', { feedback, steps: ['fetch', 'review'] });
    const again = { feedback, steps: ['review', 'fetch', 'review'] };
    expect(await scene.decide('retry_with_feedback', again)).toEqual(first);
  });
});

describe('a decision after the deadline', () => {
  test.each(named)(
    '%s: is refused from the deadline on, before the journal records the expiry',
    async (_, expected) => {
      const scene = await Scene.asking();
      scene.world.clock.jump(HOUR_MS);
      expect(await refused(scene, expected)).toMatchObject({
        code: 'APPROVAL_EXPIRED',
        httpStatus: 410,
        stepId: 'gate',
        details: { waitId: 'gate.1', expiredAt: new Date(scene.now).toISOString() },
      });
    },
  );

  test('is accepted a millisecond before the deadline', async () => {
    const scene = await Scene.asking();
    scene.world.clock.jump(HOUR_MS - 1);
    expect(await scene.decide('approve')).toMatchObject({ decision: 'approve' });
  });

  test.each([
    ['in time', -120_000],
    ['in time', 120_000],
    ['too late', -120_000],
  ])(
    'is %s by the time of the store, although the clock of the caller is wrong by %i ms',
    async (when, skewMs) => {
      const scene = await Scene.asking();
      scene.world.clock.jump(when === 'in time' ? HOUR_MS - 1 : HOUR_MS);
      const { clock } = scene.world;
      const skewed = { now: () => clock.now() + skewMs, timer: clock.timer.bind(clock) };
      const decision = scene.decide('approve', {}, { clock: skewed });
      if (when === 'in time') expect(await decision).toMatchObject({ decidedAt: scene.now });
      else await expect(decision).rejects.toMatchObject({ code: 'APPROVAL_EXPIRED' });
    },
  );

  test('is refused after the journal records the expiry, even when the run has ended', async () => {
    const scene = await Scene.asking();
    scene.world.clock.jump(HOUR_MS);
    await scene.expire('gate');
    expect(await refused(scene, ['approve'])).toMatchObject({ code: 'APPROVAL_EXPIRED' });
    await cancelRun(scene.world.deps, { runId: scene.runId, tenantId: 't1', stopKind: 'user' });
    expect(await refused(scene, ['approve'])).toMatchObject({ code: 'APPROVAL_EXPIRED' });
  });

  test('on a run that was cancelled without a decision is refused because the run has ended', async () => {
    const scene = await Scene.asking();
    await cancelRun(scene.world.deps, { runId: scene.runId, tenantId: 't1', stopKind: 'user' });
    expect(await refused(scene, ['approve'])).toMatchObject({
      code: 'RUN_TERMINAL_STATE',
      httpStatus: 409,
      details: { status: 'cancelled' },
    });
  });

  test('on a run that is being cancelled is refused because of the cancel', async () => {
    const scene = await Scene.asking({ undo: true });
    await cancelRun(scene.world.deps, { runId: scene.runId, tenantId: 't1', stopKind: 'user' });
    for (const decision of EVERY) {
      expect(await refused(scene, decision)).toMatchObject({
        code: 'RUN_INVALID_TRANSITION',
        stepId: 'gate',
      });
    }
  });
});

describe('a decision on a step without an open question', () => {
  test.each([
    ['a step that does not exist', 'nope', {}, 'NOT_FOUND'],
    ['an approval that was not asked yet', 'lone', {}, 'NOT_FOUND'],
    ['a step that has ended', 'fetch', {}, 'NOT_FOUND'],
    ['a question that is not the open one', 'gate', { waitId: 'gate.7' }, 'NOT_FOUND'],
  ])('%s', async (_, stepId, more, code) => {
    const scene = await Scene.asking();
    expect(await refused(scene, ['approve', { ...more, stepId }])).toMatchObject({ code, stepId });
  });

  test('a step that waits for an event', async () => {
    const scene = await Scene.begun();
    await scene.openEvent('ci', 'ci', 'k');
    expect(await refused(scene, ['approve', { stepId: 'ci' }])).toMatchObject({
      code: 'RUN_INVALID_TRANSITION',
      httpStatus: 409,
      stepId: 'ci',
    });
  });

  test('a run of another tenant is answered like a missing one', async () => {
    const scene = await Scene.asking();
    const { runId } = scene;
    for (const more of [{ tenantId: 't2' }, { runId: 'nonsense' }, { runId: `${runId.slice(0, -1)}x` }]) {
      expect(await refused(scene, ['approve', more])).toMatchObject({ code: 'RUN_NOT_FOUND' });
    }
  });
});

test('a decision requires the definition of the step', async () => {
  const scene = await Scene.asking();
  const { head } = scene.state;
  const registry = new WorkflowRegistry([]);
  await expect(scene.decide('approve', {}, { registry })).rejects.toMatchObject({
    code: 'PLAN_VERSION_UNAVAILABLE',
    details: { type: 'release', planVersion: 1 },
    // Only an ended run can be forked.
    help: expect.stringContaining('a live run has to be cancelled first'),
  });
  expect(scene.state.head).toBe(head);
});

describe('an invalid decision', () => {
  const long = 'é'.repeat(4_097);

  test.each<[string, Said, string, string]>([
    ['a waiver without a note', ['approve_with_waiver'], 'INVALID_INPUT', 'note'],
    ['an empty note', ['approve', { note: '  ' }], 'INVALID_INPUT', 'note'],
    ['a note with a lone surrogate', ['approve', { note: '\ud800' }], 'INVALID_INPUT', 'note'],
    ['a note too long', ['reject', { note: long }], 'PAYLOAD_TOO_LARGE', 'note'],
    ['no feedback', ['retry_with_feedback'], 'INVALID_INPUT', 'feedback'],
    ['feedback too long', ['retry_with_feedback', { feedback: long }], 'PAYLOAD_TOO_LARGE', 'feedback'],
    ['feedback that sends nothing back', ['approve', { feedback: 'f' }], 'INVALID_INPUT', 'feedback'],
    ['steps that are not sent back', ['reject', { steps: ['review'] }], 'INVALID_INPUT', 'steps'],
    ['no step at all', ['retry_with_feedback', { feedback: 'f', steps: [] }], 'INVALID_INPUT', 'steps'],
  ])('%s is refused, naming the member', async (_, expected, code, field) => {
    expect(await refused(await Scene.asking(), expected)).toMatchObject({ code, field });
  });

  test('a note of the maximum length is accepted', async () => {
    const scene = await Scene.asking();
    await scene.decide('approve', { note: long.slice(1) });
    expect(scene.state.steps.get('gate')).toMatchObject({ outcome: 'succeeded' });
  });
});
