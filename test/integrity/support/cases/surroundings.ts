/** Damage around a run: its mailbox, and the record under which it was started. */
import { type FindingReason, STUCK_AFTER } from '../../../../packages/cairn/src/core/findings.ts';
import { mailboxId } from '../../../../packages/cairn/src/core/mailbox/mailbox.ts';
import { append, stateAt } from '../append.ts';
import type { Bench } from '../bench.ts';
import { completed, halted, waiting } from '../runs.ts';
import { type Case, changeRecord, MAILBOX, said } from './case.ts';

const THROWN = { code: 'INTERNAL', message: 'out of order', retryable: true };

function named({ world, runId, shelf }: Bench, { reason }: { readonly reason: FindingReason }): void {
  world.db.findings.set(runId, {
    ...{ runId, tenantId: 't1', type: 'waits', reason, head: shelf.journal().length },
    ...{ message: 'x'.repeat(500), since: 0, lastAt: 0 },
  });
}

export const SURROUNDINGS: readonly Case[] = [
  {
    code: 'WAIT_NOT_LISTED',
    how: 'the mailbox is deleted',
    run: waiting,
    damage: ({ world }) => world.db.mailboxes.clear(),
    repair: 'healed',
  },
  {
    code: 'LISTED_WITHOUT_WAIT',
    how: 'the run has ended and is listed again',
    run: halted,
    damage: ({ world, runId, shelf }) => {
      const mailbox = { ...MAILBOX, waiting: [{ runId, waitId: 'built.1' }], buffered: [], delivered: [] };
      world.db.mailboxes.set(mailboxId(MAILBOX), { mailbox, version: 'v' });
      shelf.change('runs', runId, { soft: { obligationsMet: true }, wakeAt: undefined });
    },
    repair: 'healed',
  },
  {
    code: 'RENDEZVOUS_UNREADABLE',
    how: 'the document of the mailbox is none',
    run: waiting,
    damage: ({ world }) =>
      world.db.mailboxes.set(mailboxId(MAILBOX), { mailbox: 'damaged' as never, version: 'v' }),
    repair: 'refused',
  },
  {
    code: 'RUN_UNWRITABLE',
    how: 'the store refused it, and it has no event more since',
    run: waiting,
    damage: (bench) => named(bench, { reason: 'request' }),
    repair: 'refused',
  },
  {
    code: 'RUN_STUCK',
    how: 'ten dispatches in a row threw',
    run: waiting,
    damage: (bench) => {
      const { epoch } = stateAt(bench, bench.shelf.journal().length);
      append(bench, [said('run_resumed', { reason: 'an event came' })]);
      for (let nth = 1; nth <= STUCK_AFTER; nth += 1)
        append(bench, [
          said('run_claimed', { owner: 'o', epoch: epoch + nth, expiresAt: 0 }),
          said('run_released', { reason: 'error', inFlight: [], dueAt: 0, error: THROWN }),
        ]);
      named(bench, { reason: 'dispatches' });
    },
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
