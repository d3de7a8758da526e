import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import type { Workflow } from '../../functions/src/engine/define/steps.ts';
import type { ApprovalOptions, OnFailure } from '../../functions/src/engine/define/types.ts';
import { defineWorkflow } from '../../functions/src/engine/define/workflow.ts';
import { drive } from '../../functions/src/engine/drive/drive.ts';
import { decideApproval } from '../../functions/src/operations/approvals/decide-approval.ts';
import type { DecideRequest } from '../../functions/src/operations/approvals/request.ts';
import { assertStored } from '../support/soundness.ts';
import { settle } from '../support/virtual-clock.ts';
import { World } from '../support/world.ts';

type Gate = Pick<ApprovalOptions<unknown, Record<never, never>>, 'onExpiry' | 'onFailure'>;

interface Scene {
  readonly world: World;
  readonly runId: string;
  /** Step and revision of each body that was begun, and what it said. */
  readonly log: string[];
  decide(decision: DecideRequest['decision'], more?: Partial<DecideRequest>): Promise<unknown>;
  state(): ReturnType<typeof assertStored>;
  result(): unknown;
}

async function sceneOf(make: (log: string[]) => Workflow): Promise<Scene> {
  const log: string[] = [];
  const workflow = make(log);
  const world = new World({ workflows: [workflow] });
  const runId = await world.start(workflow.type);
  const state = () => assertStored(world.db, runId, Number.POSITIVE_INFINITY);
  return {
    world,
    runId,
    log,
    decide: (decision, more = {}) =>
      decideApproval(world.deps, {
        runId,
        tenantId: 't1',
        stepId: 'gate',
        actor: 'c.ada',
        decision,
        ...more,
      }),
    state,
    result: () => {
      const { result } = state();
      return result && 'text' in result ? JSON.parse(result.text) : undefined;
    },
  };
}

/** Runs until nothing is left to do but for a person. */
async function untilAsked({ world, state }: Scene): Promise<void> {
  await world.run(() => state().status === 'awaiting_approval');
  expect(state().status).toBe('awaiting_approval');
}

/** draft → gate → publish, and `facts` beside, which nobody sends back. */
const reviewed =
  (gate: Gate = {}) =>
  (log: string[]) =>
    defineWorkflow({
      type: 'reviewed',
      planVersion: 1,
      input: z.unknown(),
      steps(step) {
        const facts = step('facts', () => {
          log.push('facts');
          return 'facts';
        });
        const draft = step('draft', { needs: { facts } }, ({ revision, feedback, attempt }) => {
          log.push(`draft ${revision} ${attempt} ${feedback ?? '-'}`);
          return `draft ${revision}`;
        });
        const approved = step.approval('gate', {
          needs: { draft },
          timeout: '1h',
          ask: ({ draft }) => ({ question: `Publish ${draft}?` }),
          ...gate,
        });
        const published = step(
          'publish',
          { needs: { draft, approved }, ifSkipped: 'run' },
          ({ draft, approved }) => {
            log.push(`publish ${draft}`);
            return [draft, approved ?? null];
          },
        );
        return { published };
      },
    });

describe('an approval', () => {
  test('asks with what it sees, lets go of the run, and lets it go on with what was said', async () => {
    const scene = await sceneOf(reviewed());
    await untilAsked(scene);
    const { waits, lease } = scene.state();
    expect(lease).toBeUndefined();
    expect(waits).toMatchObject([
      {
        id: 'gate.1',
        kind: 'approval',
        detailText: '{"question":"Publish draft 1?"}',
        dueAt: expect.any(Number),
      },
    ]);
    await scene.decide('approve', { note: 'fine' });
    await scene.world.run();
    expect(scene.state().status).toBe('completed');
    expect(scene.result()).toEqual({
      published: ['draft 1', { decision: 'approve', note: 'fine', by: 'c.ada' }],
    });
    expect(scene.log).toEqual(['facts', 'draft 1 1 -', 'publish draft 1']);
  });

  test('whose task is lost after the decision is found by the scan', async () => {
    const scene = await sceneOf(reviewed());
    await untilAsked(scene);
    await scene.decide('approve');
    for (const { id } of scene.world.queue.pending) scene.world.queue.take(id);
    await scene.world.run();
    expect(scene.state().status).toBe('completed');
  });

  test.each<[OnFailure<never>, string, unknown]>([
    ['fail', 'failed', undefined],
    ['skip', 'completed', { published: ['draft 1', null] }],
    [
      { degradeTo: { decision: 'approve', note: 'by default' } as never },
      'completed',
      {
        published: ['draft 1', { decision: 'approve', note: 'by default' }],
      },
    ],
  ])('rejected means what onFailure %j says', async (onFailure, status, result) => {
    const scene = await sceneOf(reviewed({ onFailure: onFailure as OnFailure<never> }));
    await untilAsked(scene);
    await scene.decide('reject', { note: 'no' });
    await scene.world.run();
    const state = scene.state();
    expect(state.status).toBe(status);
    expect(scene.result()).toEqual(result);
    if (status === 'failed') expect(state.error).toMatchObject({ code: 'APPROVAL_REJECTED', stepId: 'gate' });
  });

  test.each<[Gate['onExpiry'], string, unknown]>([
    ['fail', 'failed', undefined],
    ['approve', 'completed', { published: ['draft 1', { decision: 'approve' }] }],
    ['halt', 'cancelled', undefined],
  ])(
    'that nobody decides ends as onExpiry %s says, and a decision is too late',
    async (onExpiry, status, result) => {
      const scene = await sceneOf(reviewed({ onExpiry: onExpiry as NonNullable<Gate['onExpiry']> }));
      const startedAt = scene.world.clock.now();
      await scene.world.run();
      const state = scene.state();
      expect(state.status).toBe(status);
      expect(scene.result()).toEqual(result);
      expect((state.completedAt ?? 0) - startedAt).toBeGreaterThanOrEqual(3_600_000);
      if (status === 'failed')
        expect(state.error).toMatchObject({ code: 'APPROVAL_EXPIRED', stepId: 'gate' });
      if (status === 'cancelled') expect(state.stopKind).toBe('halt');
      await expect(scene.decide('approve')).rejects.toMatchObject({ code: 'APPROVAL_EXPIRED' });
    },
  );
});

describe('feedback', () => {
  test('makes the next revision with the feedback in hand; the newest wins, the earlier stay readable', async () => {
    const scene = await sceneOf(reviewed());
    await untilAsked(scene);
    const first = scene.state().steps.get('draft');
    await scene.decide('retry_with_feedback', { feedback: 'shorter' });
    await untilAsked(scene);
    expect(scene.state().waits).toMatchObject([
      { id: 'gate.2', detailText: '{"question":"Publish draft 2?"}' },
    ]);
    await scene.decide('retry_with_feedback', { feedback: 'shorter still' });
    await untilAsked(scene);
    await scene.decide('approve', { waitId: 'gate.3' });
    await scene.world.run();
    expect(scene.state().status).toBe('completed');
    expect(scene.result()).toMatchObject({ published: ['draft 3', { decision: 'approve' }] });
    expect(scene.log).toEqual([
      'facts',
      'draft 1 1 -',
      'draft 2 1 shorter',
      'draft 3 1 shorter still',
      'publish draft 3',
    ]);
    const { items } = await scene.world.store.listCheckpoints(scene.runId, { limit: 100 });
    const drafts = items
      .filter(({ stepId }) => stepId === 'draft')
      .map(({ revision, outputText }) => [revision, outputText]);
    expect(drafts.sort()).toEqual([
      [1, '"draft 1"'],
      [2, '"draft 2"'],
      [3, '"draft 3"'],
    ]);
    const [kept] = await scene.world.store.readCheckpoints(scene.runId, [first?.seq ?? 0]);
    expect(kept).toMatchObject({ revision: 1, outputText: '"draft 1"' });
    const hashes = new Set(
      items.filter(({ stepId }) => stepId === 'draft').map(({ inputsHash }) => inputsHash),
    );
    expect(hashes.size).toBe(3);
  });

  test('can name steps further up; what those do not concern is kept', async () => {
    const scene = await sceneOf(reviewed());
    await untilAsked(scene);
    await scene.decide('retry_with_feedback', { feedback: 'check them', steps: ['facts'] });
    await untilAsked(scene);
    expect(scene.log).toEqual(['facts', 'draft 1 1 -', 'facts', 'draft 2 1 check them']);
  });

  test('reaches steps that are under way: what they would have said is not heard', async () => {
    const scene = await sceneOf((log) =>
      defineWorkflow({
        type: 'busy',
        planVersion: 1,
        input: z.unknown(),
        steps(step) {
          const draft = step('draft', ({ revision }) => revision);
          const slow = step('slow', { needs: { draft }, timeout: '5m' }, ({ draft, signal }) => {
            log.push(`slow of ${draft}`);
            if (draft > 1) return draft;
            return new Promise<number>((_, reject) =>
              signal.addEventListener('abort', () => reject(signal.reason as Error)),
            );
          });
          const gate = step.approval('gate', { needs: { draft }, ask: () => '?' });
          return { end: step('end', { needs: { slow, gate } }, ({ slow }) => slow) };
        },
      }),
    );
    const { world, runId } = scene;
    world.queue.take();
    const driving = drive(world.deps, { runId });
    await settle();
    expect(scene.log).toEqual(['slow of 1']);
    await scene.decide('retry_with_feedback', { feedback: 'again' });
    const sentAt = world.clock.now();
    while (world.clock.fireNext(sentAt + 5_000)) await settle();
    expect(await driving).toBe('released');
    await untilAsked(scene);
    expect(scene.log).toEqual(['slow of 1', 'slow of 2']);
    await scene.decide('approve');
    await world.run();
    expect(scene.result()).toEqual({ end: 2 });
  });
});

describe('a decision while the run is driven', () => {
  const beside = (log: string[]) =>
    defineWorkflow({
      type: 'beside',
      planVersion: 1,
      input: z.unknown(),
      steps(step) {
        const slow = step('slow', { timeout: '5m' }, ({ signal }) => {
          log.push('slow');
          return new Promise<number>((resolve, reject) => {
            resolvers.push(() => resolve(7));
            signal.addEventListener('abort', () => reject(signal.reason as Error));
          });
        });
        const gate = step.approval('gate', { ask: () => '?' });
        const after = step('after', { needs: { gate } }, ({ gate }) => {
          log.push(`after ${gate.decision}`);
          return 1;
        });
        return { slow, after };
      },
    });
  let resolvers: (() => void)[] = [];

  async function driven() {
    resolvers = [];
    const scene = await sceneOf(beside);
    scene.world.queue.take();
    const driving = drive(scene.world.deps, scene);
    await settle();
    expect(scene.log).toEqual(['slow']);
    expect(scene.state().waits).toHaveLength(1);
    return { ...scene, driving };
  }

  async function within(scene: Scene, ms: number): Promise<void> {
    const until = scene.world.clock.now() + ms;
    while (scene.world.clock.fireNext(until)) await settle();
  }

  test('is taken up within five seconds, without another task', async () => {
    const scene = await driven();
    await scene.decide('approve');
    expect(scene.world.queue.pending).toHaveLength(0);
    await within(scene, 5_000);
    expect(scene.log).toEqual(['slow', 'after approve']);
    for (const resolve of resolvers) resolve();
    await settle();
    await within(scene, 5_000);
    expect(await scene.driving).toBe('closed');
    expect(scene.result()).toEqual({ slow: 7, after: 1 });
  });

  test.each(['halt', 'reject'] as const)('to %s ends the bodies under way, and the run', async (decision) => {
    const scene = await driven();
    await scene.decide(decision);
    const decidedAt = scene.world.clock.now();
    if (decision === 'reject') for (const resolve of resolvers) resolve();
    await within(scene, 5_000);
    expect(await scene.driving).toBe('closed');
    const state = scene.state();
    expect(state.status).toBe(decision === 'halt' ? 'cancelled' : 'failed');
    expect((state.completedAt ?? 0) - decidedAt).toBeLessThanOrEqual(5_000);
  });
});

describe('undoing', () => {
  const undoable = (log: string[]) =>
    defineWorkflow({
      type: 'undoable',
      planVersion: 1,
      input: z.unknown(),
      steps(step) {
        const undo = (what: string) => ({
          compensate: ({ output }: { output: number }) => void log.push(`undo ${what} ${output}`),
        });
        const one = step('one', undo('one'), () => 1);
        const two = step('two', { needs: { one }, ...undo('two') }, ({ one }) => one + 1);
        const gate = step.approval('gate', { needs: { two }, ask: () => '?' });
        return { end: step('end', { needs: { gate } }, () => 0) };
      },
    });

  test.each([
    ['reject', 'failed'],
    ['halt', 'cancelled'],
  ] as const)('follows %s: the newest first, then the run is %s', async (decision, status) => {
    const scene = await sceneOf(undoable);
    await untilAsked(scene);
    await scene.decide(decision);
    await scene.world.run();
    expect(scene.log).toEqual(['undo two 2', 'undo one 1']);
    expect(scene.state()).toMatchObject({
      status,
      compensationLog: [
        { stepId: 'two', outcome: 'compensated' },
        { stepId: 'one', outcome: 'compensated' },
      ],
    });
    if (status === 'cancelled') expect(scene.state().stopKind).toBe('halt');
  });
});
