import { expect, test } from '@jest/globals';
import { checkRun } from '../../packages/cairn/src/core/integrity/check-run.ts';
import { deliverEvent } from '../../packages/cairn/src/operations/events/deliver-event.ts';
import { readDocuments } from '../../packages/cairn/src/operations/integrity/read-documents.ts';
import { repairRun } from '../../packages/cairn/src/operations/integrity/repair.ts';
import { MemoryIntegrityStore } from '../support/memory/memory-integrity-store.ts';
import { TENANT } from './support/bench.ts';
import { MAILBOX } from './support/cases/case.ts';
import { waiting } from './support/runs.ts';

/** A run that waits, whose place is gone, in the very database in which it lives. */
async function forgotten() {
  const { world, runId } = await waiting();
  world.db.mailboxes.clear();
  const integrity = new MemoryIntegrityStore(world.db);
  const deps = { ...world.deps, reader: integrity, repairs: integrity, payloads: world.store };
  return {
    world,
    runId,
    send: (eventId: string) =>
      deliverEvent(world.deps, { ...MAILBOX, data: { build: 1 }, eventId, actor: 's.ci' }),
    repair: () => repairRun(deps, { runId, tenantId: TENANT, actor: 'c.operator', apply: true }),
    codes: async () => {
      const read = await readDocuments(deps, runId, () => true);
      return read ? checkRun(read.run).map(({ code }) => code) : [];
    },
    types: () => world.db.runs.get(runId)?.events.map(({ type }) => type) ?? [],
  };
}

test('a relisted wait receives events sent later', async () => {
  const { repair, codes, send, types, world, runId } = await forgotten();
  expect(await codes()).toEqual(['WAIT_NOT_LISTED']);
  expect(await repair()).toMatchObject({ outcome: 'applied', places: [{ kind: 'list', waitId: 'built.1' }] });
  expect(await codes()).toEqual([]);
  expect(await send('e1')).toMatchObject({ kept: false, delivered: [expect.any(String)] });
  await world.run(() => world.db.runs.get(runId)?.snapshot.status === 'awaiting_approval');
  expect(types().slice(-6)).toContain('wait_resolved');
  expect(await codes()).toEqual([]);
});

test('an event that came while no run was listed is received during the repair', async () => {
  const { repair, codes, send, types, world } = await forgotten();
  expect(await send('e1')).toMatchObject({ kept: true });
  expect(await codes()).toEqual(['WAIT_NOT_LISTED']);
  expect((await repair()).outcome).toBe('applied');
  expect(types().filter((type) => type === 'wait_resolved')).toHaveLength(1);
  expect(await send('e1')).toMatchObject({ kept: false, delivered: [expect.any(String)] });
  expect(types().filter((type) => type === 'wait_resolved')).toHaveLength(1);
  await world.run(() => types().filter((type) => type === 'run_suspended').length > 1);
  expect(await codes()).toEqual([]);
});
