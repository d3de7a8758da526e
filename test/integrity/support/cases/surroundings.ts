/** Damage around a run: its rendezvous, and the record under which it was started. */
import { rendezvousId } from '../../../../functions/src/ports/rendezvous-store.ts';
import { completed, halted, waiting } from '../runs.ts';
import { type Case, changeRecord, RENDEZVOUS } from './case.ts';

export const SURROUNDINGS: readonly Case[] = [
  {
    code: 'WAIT_NOT_LISTED',
    how: 'the rendezvous is deleted',
    run: waiting,
    damage: ({ world }) => world.db.rendezvous.clear(),
    repair: 'healed',
  },
  {
    code: 'LISTED_WITHOUT_WAIT',
    how: 'the run has ended and is listed again',
    run: halted,
    damage: ({ world, runId, shelf }) => {
      const rendezvous = { ...RENDEZVOUS, waiting: [{ runId, waitId: 'built.1' }], early: [], delivered: [] };
      world.db.rendezvous.set(rendezvousId(RENDEZVOUS), { rendezvous, version: 'v' });
      shelf.change('runs', runId, { soft: { obligationsMet: true }, wakeAt: undefined });
    },
    repair: 'healed',
  },
  {
    code: 'RENDEZVOUS_UNREADABLE',
    how: 'the document of the rendezvous is none',
    run: waiting,
    damage: ({ world }) =>
      world.db.rendezvous.set(rendezvousId(RENDEZVOUS), { rendezvous: 'damaged' as never, version: 'v' }),
    repair: 'refused',
  },
  {
    code: 'IDEMPOTENCY_RECORD_MISSING',
    how: 'the record is deleted within its day',
    run: completed,
    damage: ({ world }) => world.db.records.clear(),
    repair: 'refused',
  },
  {
    code: 'IDEMPOTENCY_RECORD_ELSEWHERE',
    how: 'the record points to another run',
    run: completed,
    damage: (bench) => changeRecord(bench, { runId: `run_${'a'.repeat(26)}` }),
    repair: 'refused',
  },
  {
    code: 'IDEMPOTENCY_RECORD_UNREADABLE',
    how: 'the record is none',
    run: completed,
    damage: ({ world }) => {
      const [key = ''] = world.db.records.keys();
      world.db.records.set(key, { record: 'damaged' as never, version: 'v' });
    },
    repair: 'refused',
  },
];
