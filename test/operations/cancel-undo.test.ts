import { describe, expect, test } from '@jest/globals';
import { READY_GRACE_MS } from '../../packages/cairn/src/core/run/wake.ts';
import { WorkflowRegistry } from '../../packages/cairn/src/engine/define/registry.ts';
import type { EngineDeps } from '../../packages/cairn/src/engine/deps.ts';
import { drive } from '../../packages/cairn/src/engine/drive/drive.ts';
import { retryScheduled } from '../../packages/cairn/src/engine/recording/event-builders.ts';
import { cancelRun } from '../../packages/cairn/src/operations/cancel-run.ts';
import { Scene } from './approvals/scene.ts';

const cancel = ({ world, runId }: Scene, deps: Partial<EngineDeps> = {}, withoutUndo?: boolean) =>
  cancelRun(
    { ...world.deps, ...deps },
    { runId, tenantId: 't1', actor: 'c.ada', stopKind: 'user', withoutUndo },
  );

const typesOf = async (scene: Scene, count: number) => (await scene.last(count)).map(({ type }) => type);

/** `review` is done and has a compensation. The run has no worker. */
const UNLEASED: Readonly<Record<string, () => Promise<Scene>>> = {
  'waits for a person': () => Scene.asking({ undo: true }),
  'rests for a year before a retry': async () => {
    const scene = await Scene.begun({ undo: true });
    await scene.done('fetch');
    await scene.done('review');
    const dueAt = scene.now + 365 * 24 * 3_600_000;
    const error = { code: 'STEP_FAILED', message: 'm', retryable: true };
    await scene.append([
      retryScheduled(scene.execution({ stepId: 'push' }), { at: dueAt, error }),
      { type: 'run_released', initiator: 'system', data: { reason: 'retry', inFlight: [], dueAt } },
    ]);
    return scene;
  },
  'was interrupted': async () => {
    const scene = await Scene.begun({ undo: true });
    await scene.done('fetch');
    await scene.done('review');
    await scene.interrupt();
    return scene;
  },
};

describe.each(Object.keys(UNLEASED))('a run with something to undo that %s', (name) => {
  const situation = UNLEASED[name] ?? (() => Promise.reject(new Error(name)));

  test('gets a request to end and is dispatched immediately, whatever it waited for', async () => {
    const scene = await situation();
    scene.tasks();
    expect(await cancel(scene)).toMatchObject({ status: 'cancelling', requestedAt: scene.now });
    const { state } = scene;
    expect(state.cancellation).toMatchObject({ stopKind: 'user', actor: 'c.ada' });
    expect(['running', 'interrupted']).toContain(state.status);
    expect(scene.tasks()).toBe(1);
    // If that task is lost, the scan soon finds the run.
    expect(scene.wakeAt).toBeLessThanOrEqual(scene.now + READY_GRACE_MS);
  });

  test('is cancelled after its compensations, although every task is lost', async () => {
    const scene = await situation();
    await cancel(scene);
    const { requestedAt } = scene.state.cancellation ?? {};
    scene.tasks();
    await scene.world.run();
    const { status, completedAt, compensationLog } = scene.state;
    expect(status).toBe('cancelled');
    expect(compensationLog).toMatchObject([{ stepId: 'review', outcome: 'compensated' }]);
    expect((completedAt ?? 0) - (requestedAt ?? 0)).toBeLessThan(2 * READY_GRACE_MS);
  });

  test('repeats the first answer to the next request, writes nothing, and enqueues again if the task was lost', async () => {
    const scene = await situation();
    const first = await cancel(scene);
    scene.tasks();
    const { head } = scene.state;
    expect(await cancel(scene)).toEqual(first);
    expect(scene.state.head).toBe(head);
    expect(scene.tasks()).toBe(1);
  });

  test('waits for its plan, and is undone and ended once the plan is deployed again', async () => {
    const scene = await situation();
    const bare = { ...scene.world.deps, registry: new WorkflowRegistry([]) };
    expect(await cancel(scene, bare)).toMatchObject({ status: 'cancelling' });
    await scene.world.run(() => scene.state.parked !== undefined, bare);
    const { head } = scene.state;
    // A second request changes nothing.
    expect(await cancel(scene, bare)).toMatchObject({ status: 'cancelling' });
    expect(scene.state.head).toBe(head);
    await scene.world.run();
    const { status, compensationLog } = scene.state;
    expect(status).toBe('cancelled');
    expect(compensationLog).toMatchObject([{ stepId: 'review', outcome: 'compensated' }]);
    const [last] = await scene.last(1);
    expect(last?.data).not.toHaveProperty('notUndone');
  });

  test.each(['at once', 'after it was cancelled otherwise'])(
    'ends %s without its plan if the cancel skips compensations, and its last event names the skipped steps',
    async (when) => {
      const scene = await situation();
      const bare = { ...scene.world.deps, registry: new WorkflowRegistry([]) };
      if (when !== 'at once') await cancel(scene, bare);
      expect(await cancel(scene, bare, true)).toMatchObject({ status: 'cancelled' });
      const [last] = await scene.last(1);
      expect(last).toMatchObject({ type: 'run_cancelled', data: { notUndone: { steps: ['review'] } } });
      expect(scene.state.cancellation).toMatchObject({ withoutUndo: true });
    },
  );
});

test('a run that has undone everything ends at once', async () => {
  const scene = await Scene.begun({ undo: true });
  await scene.done('review');
  await scene.append([
    { type: 'step_compensated', initiator: 'system', data: { stepId: 'review', revision: 1 } },
    { type: 'run_released', initiator: 'system', data: { reason: 'shutdown', inFlight: [] } },
  ]);
  expect(await cancel(scene)).toMatchObject({ status: 'cancelled' });
});

test('a run that was released before all was undone waits until its plan is deployed again', async () => {
  const scene = await Scene.begun({ undo: true });
  await scene.done('review');
  await scene.append([
    { type: 'cancel_requested', initiator: 'user', actor: 'c.ada', data: { stopKind: 'user' } },
    { type: 'run_released', initiator: 'system', data: { reason: 'shutdown', inFlight: [] } },
  ]);
  const bare = { ...scene.world.deps, registry: new WorkflowRegistry([]) };
  expect(await drive(bare, { runId: scene.runId })).toBe('waiting');
  expect(scene.state).toMatchObject({ status: 'waiting_external', parked: 'PLAN_VERSION_UNAVAILABLE' });
  await scene.world.run();
  expect(scene.state).toMatchObject({ status: 'cancelled', stopKind: 'user' });
  expect(scene.state.compensationLog).toMatchObject([{ stepId: 'review', outcome: 'compensated' }]);
});

test('an item with a compensation delays the end of the run, its map step does not', async () => {
  const released = {
    type: 'run_released',
    initiator: 'system',
    data: { reason: 'shutdown', inFlight: [] },
  } as const;
  const item = await Scene.begun({ undo: true });
  await item.done('files', { itemKey: '0' });
  await item.append([released]);
  expect(await cancel(item)).toMatchObject({ status: 'cancelling' });
  const map = await Scene.begun({ undo: true });
  await map.done('files');
  await map.append([released]);
  expect(await cancel(map)).toMatchObject({ status: 'cancelled' });
});

describe('a run with completion duties', () => {
  async function waitingForAnEvent(): Promise<Scene> {
    const scene = await Scene.begun();
    await scene.openEvent('ci', 'ci', 'k');
    await scene.suspend();
    scene.tasks();
    return scene;
  }

  test('ends immediately, and a dispatch meets the duties', async () => {
    const scene = await waitingForAnEvent();
    expect(await cancel(scene)).toMatchObject({ status: 'cancelled' });
    expect(await typesOf(scene, 2)).toEqual(['cancel_requested', 'run_cancelled']);
    expect(scene.tasks()).toBe(1);
  });

  test('is cancelled although the queue fails, because the scan finds it', async () => {
    const scene = await waitingForAnEvent();
    const queue = { enqueue: () => Promise.reject(new Error('no queue')) };
    expect(await cancel(scene, { queue })).toMatchObject({ status: 'cancelled' });
    expect(scene.wakeAt).toBe(scene.now + READY_GRACE_MS);
  });
});
