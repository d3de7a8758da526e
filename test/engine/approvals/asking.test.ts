import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import type { OnFailure } from '../../../packages/cairn/src/engine/define/types.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { type Gate, reviewed, sceneOf, untilAsked } from './scene.ts';

describe('an approval', () => {
  test('asks with the outputs it needs, releases the run, and continues it with the answer', async () => {
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
  ])('that is rejected ends as onFailure %j says', async (onFailure, status, result) => {
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
    'that nobody decides ends as onExpiry %s says, and refuses later decisions',
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

describe('completed steps', () => {
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
  ] as const)('are undone after %s, the newest first, and the run is %s', async (decision, status) => {
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
