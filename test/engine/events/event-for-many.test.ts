/** One event that answers many waits of one run is one commit, which must not exceed what the store takes. */
import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { MAX_DELIVERED_BYTES } from '../../../packages/cairn/src/core/mailbox/limits.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { MAX_COMMIT_BYTES } from '../../../packages/cairn/src/journal/batch.ts';
import { deliverEvent } from '../../../packages/cairn/src/operations/events/deliver-event.ts';
import type { JournalCommit } from '../../../packages/cairn/src/ports/run-store.ts';
import { intercept } from '../../support/intercept.ts';
import { assertStored } from '../../support/soundness.ts';
import { World } from '../../support/world.ts';

const PLACE = { tenantId: 't1', event: 'built', key: 'main' };
/** More of the largest events than a request of Firestore (10 MiB) has room for. */
const WAITS = 41;
const ids = Array.from({ length: WAITS }, (_, n) => `wait${n}`);

const crowd = defineWorkflow({
  type: 'crowd',
  planVersion: 1,
  input: z.object({}),
  steps(step) {
    const waits = Object.fromEntries(
      ids.map((id) => [id, step.event(id, { event: PLACE.event, key: () => PLACE.key })]),
    );
    const sizes = step('sizes', { needs: waits }, (outputs) =>
      ids.map((id) => String(outputs[id]).length).filter((size) => size !== LARGEST.length),
    );
    return { ...waits, sizes };
  },
});

const LARGEST = 'x'.repeat(MAX_DELIVERED_BYTES - 2);

test('an event of the largest size answers 41 waits of one run in one commit of moderate size', async () => {
  const world = new World({ workflows: [crowd] });
  const runId = await world.start('crowd');
  await world.run(() => world.db.runs.get(runId)?.snapshot.status === 'waiting_external');
  const commits: number[] = [];
  const store = intercept(world.deps.store, ({ method, args }, proceed) => {
    if (method === 'commit')
      commits.push(
        (args[0] as JournalCommit).checkpoints.reduce((sum, one) => sum + (one.outputText?.length ?? 0), 0),
      );
    return proceed();
  });
  const sent = { ...PLACE, data: LARGEST, eventId: 'e1', actor: 'anna' };
  const { delivered } = await deliverEvent({ ...world.deps, store }, sent);
  expect(delivered).toEqual([runId]);
  expect(commits).toHaveLength(1);
  expect(Math.max(...commits)).toBeLessThanOrEqual(MAX_COMMIT_BYTES);
  await world.run();
  expect(world.stateOf(runId).status).toBe('completed');
  expect(world.stateOf(runId).steps.get('sizes')).toMatchObject({ outcome: 'succeeded' });
  assertStored(world.db, runId);
});
