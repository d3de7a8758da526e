import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { defineWorkflow } from '../../packages/cairn/src/engine/define/workflow.ts';
import type { StepAborted } from '../../packages/cairn/src/engine/drive/bodies/call-body.ts';
import { drive } from '../../packages/cairn/src/engine/drive/drive.ts';
import { LOCAL_SETTINGS, PRODUCTION_SETTINGS } from '../../packages/cairn/src/engine/settings.ts';
import { cancelRun } from '../../packages/cairn/src/operations/cancel-run.ts';
import { assertStored } from '../support/soundness.ts';
import { settle, type VirtualClock } from '../support/virtual-clock.ts';
import { World } from '../support/world.ts';

/** Promised time, minus the read of the next event. */
const REACH_MS = 5_000 - 500;
/** More than two heartbeats of production, in steps that cover every phase of a heartbeat. */
const OFFSETS = Array.from({ length: 300 }, (_, i) => i * 233);

/** Steps that run until they are aborted: one from the start, and one after a commit in the middle of the run. */
function hanging(clock: () => VirtualClock) {
  const told: { why: string; at: number }[] = [];
  const hang = ({ signal }: { readonly signal: AbortSignal }) =>
    new Promise<number>((_, reject) =>
      signal.addEventListener('abort', () => {
        told.push({ why: (signal.reason as StepAborted).why, at: clock().now() });
        reject(signal.reason as Error);
      }),
    );
  const workflow = defineWorkflow({
    type: 'hanging',
    planVersion: 1,
    input: z.object({}),
    steps(step) {
      const quick = step('quick', { timeout: '5m' }, () => {
        const { promise, resolve } = Promise.withResolvers<number>();
        clock().timer(7_919, () => resolve(1));
        return promise;
      });
      const hangs = step('hangs', { timeout: '5m' }, hang);
      const later = step('later', { needs: { quick }, timeout: '5m' }, hang);
      return { hangs, later };
    },
  });
  return { workflow, told };
}

describe.each(Object.entries({ LOCAL_SETTINGS, PRODUCTION_SETTINGS }))('under %s', (_, settings) => {
  test('a cancel reaches running steps within five seconds, at any time of the heartbeat', async () => {
    for (const offset of OFFSETS) {
      let world: World | undefined;
      const { workflow, told } = hanging(() => (world as World).clock);
      world = new World({ workflows: [workflow], settings });
      const { clock, deps, db } = world;
      const runId = await world.start('hanging');
      const startedAt = clock.now();
      const driving = drive(deps, { runId });
      await settle();
      while (clock.fireNext(startedAt + offset)) await settle();
      clock.jump(startedAt + offset - clock.now());
      const { status } = await cancelRun(deps, { runId, tenantId: 't1', stopKind: 'user' });
      expect(status).toBe('cancelling');
      const askedAt = clock.now();
      while (told.length === 0 && clock.fireNext()) await settle();
      expect(told[0]).toEqual({ why: 'cancel', at: expect.any(Number) });
      expect({ offset, late: (told[0]?.at ?? 0) - askedAt > REACH_MS }).toEqual({ offset, late: false });
      while (clock.fireNext(clock.now() + settings.graceMs)) await settle();
      expect(await driving).toBe('closed');
      expect(assertStored(db, runId).status).toBe('cancelled');
    }
  });
});
