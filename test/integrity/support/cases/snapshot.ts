/** Damage of the run document. */
import { Timestamp } from '@google-cloud/firestore';
import { seqId } from '../../../../packages/cairn/src/core/encoding/ids.ts';
import { append, appendEvents, putSnapshot, stateAt } from '../append.ts';
import { completed, halted, waiting } from '../runs.ts';
import { type Case, isResolved, said } from './case.ts';

export const SNAPSHOT: readonly Case[] = [
  {
    code: 'SNAPSHOT_MISSING',
    how: 'the run document is deleted',
    run: waiting,
    damage: ({ shelf, runId }) => shelf.delete('runs', runId),
    repair: 'healed',
  },
  {
    code: 'SNAPSHOT_UNREADABLE',
    how: 'its steps are no list of steps',
    run: completed,
    damage: ({ shelf, runId }) => shelf.change('runs', runId, { steps: '12:34:56' }),
    repair: 'healed',
  },
  {
    code: 'SNAPSHOT_UNREADABLE',
    how: 'a member is missing',
    run: waiting,
    damage: ({ shelf, runId }) => shelf.change('runs', runId, { epoch: undefined }),
    repair: 'healed',
  },
  {
    code: 'SNAPSHOT_SOFT_UNREADABLE',
    how: 'a time of it is a word',
    run: waiting,
    damage: ({ shelf, runId }) =>
      shelf.change('runs', runId, { soft: { leaseExtendedTo: 'soon', obligationsMet: false } }),
    repair: 'healed',
  },
  {
    code: 'SNAPSHOT_BEHIND',
    how: 'the run document is that of a while ago',
    run: waiting,
    damage: (bench) => putSnapshot(bench, stateAt(bench, 4)),
    repair: 'healed',
  },
  {
    code: 'SNAPSHOT_AHEAD',
    how: 'the newest event is deleted',
    run: completed,
    damage: ({ shelf }) => shelf.delete('events', seqId(shelf.journal().length)),
    repair: 'refused',
    also: ['JOURNAL_TAIL_CUT'],
  },
  {
    code: 'SNAPSHOT_OF_ANOTHER_JOURNAL',
    how: 'the newest event is another one, rightly sealed',
    run: waiting,
    damage: (bench) => {
      const { shelf } = bench;
      const journal = shelf.journal();
      const last = journal.at(-1);
      if (last?.type !== 'run_suspended') throw new Error('the run was to be suspended');
      shelf.delete('events', seqId(journal.length));
      appendEvents(bench, [said('run_suspended', { status: 'waiting_external', announced: true })]);
    },
    repair: 'refused',
  },
  {
    code: 'SNAPSHOT_DIFFERENT',
    how: 'it says another status and another step',
    run: completed,
    damage: ({ shelf, runId }) => shelf.change('runs', runId, { status: 'failed', currentStep: 'short' }),
    repair: 'healed',
  },
  {
    code: 'SNAPSHOT_DIFFERENT',
    how: 'it says another head than the event it was made from',
    run: completed,
    damage: ({ shelf, runId }) => shelf.change('runs', runId, { head: 3 }),
    repair: 'healed',
  },
  {
    code: 'SNAPSHOT_DIFFERENT',
    how: 'its step is no step and its waits are no waits',
    run: waiting,
    damage: ({ shelf, runId }) => shelf.change('runs', runId, { currentStep: 'lost', waits: '[{"id":1}]' }),
    repair: 'healed',
    also: ['EVENT_WITHOUT_WAIT'],
  },
  {
    code: 'SNAPSHOT_UNREADABLE',
    how: 'its waits are no list',
    run: waiting,
    damage: ({ shelf, runId }) => shelf.change('runs', runId, { waits: '{"id":1}' }),
    repair: 'healed',
  },
  {
    code: 'SNAPSHOT_UNREADABLE',
    how: 'its status is no status',
    run: waiting,
    damage: ({ shelf, runId }) => shelf.change('runs', runId, { status: 'lost' }),
    repair: 'healed',
  },
  {
    code: 'SETTLED_WITH_OPEN_WAIT',
    how: 'a run that was halted still asks',
    run: halted,
    damage: (bench) => {
      const { waits } = stateAt(bench, bench.shelf.journal().findIndex(isResolved));
      bench.shelf.change('runs', bench.runId, { waits: JSON.stringify(waits) });
    },
    repair: 'healed',
  },
  {
    code: 'HALT_NOT_APPLIED',
    how: 'the run document does not show it',
    run: halted,
    damage: ({ shelf, runId }) =>
      shelf.change('runs', runId, { status: 'awaiting_approval', stopKind: undefined }),
    repair: 'healed',
  },
  {
    code: 'HALT_NOT_APPLIED',
    how: 'the journal says nothing of what followed',
    run: waiting,
    damage: (bench) => {
      const [wait] = stateAt(bench, bench.shelf.journal().length).waits.filter(
        ({ kind }) => kind === 'approval',
      );
      append(bench, [said('wait_resolved', { waitId: wait?.id ?? '', decision: 'halt' })]);
    },
    repair: 'refused',
  },
  {
    code: 'WAIT_WITHOUT_EVENT',
    how: 'one more wait stands in the run document',
    run: waiting,
    damage: ({ shelf, runId }) => {
      const waits = JSON.parse(String(shelf.members('runs', runId).waits)) as object[];
      shelf.change('runs', runId, { waits: JSON.stringify([...waits, { ...waits[0], id: 'more.1' }]) });
    },
    repair: 'healed',
  },
  {
    code: 'EVENT_WITHOUT_WAIT',
    how: 'a wait is gone from the run document',
    run: waiting,
    damage: ({ shelf, runId }) => {
      const [wait] = JSON.parse(String(shelf.members('runs', runId).waits)) as object[];
      shelf.change('runs', runId, { waits: JSON.stringify([wait]) });
    },
    repair: 'healed',
  },
  {
    code: 'TERMINAL_FIELDS_MISSING',
    how: 'when it ended is gone',
    run: completed,
    damage: ({ shelf, runId }) =>
      shelf.change('runs', runId, { completedAt: undefined, durationMs: undefined, result: undefined }),
    repair: 'healed',
  },
  {
    code: 'WAKE_LATE',
    how: 'nobody would ever look at the run',
    run: waiting,
    damage: ({ shelf, runId }) => shelf.change('runs', runId, { wakeAt: undefined }),
    repair: 'healed',
  },
  {
    code: 'WAKE_LATE',
    how: 'the run would be looked at in a year',
    run: waiting,
    damage: ({ shelf, runId }) => shelf.change('runs', runId, { wakeAt: Timestamp.fromMillis(4e12) }),
    repair: 'healed',
  },
  {
    code: 'INBOX_WRONG',
    how: 'the inbox would not show the question',
    run: waiting,
    damage: ({ shelf, runId }) => shelf.change('runs', runId, { askingSince: undefined }),
    repair: 'healed',
  },
  {
    code: 'INBOX_WRONG',
    how: 'the inbox would show a run that asks nothing, at no place in time',
    run: completed,
    damage: ({ shelf, runId }) => shelf.change('runs', runId, { askingSince: 'soon' }),
    repair: 'healed',
  },
  {
    code: 'SEARCH_WRONG',
    how: 'the search would find it by a name of another run',
    run: completed,
    damage: ({ shelf, runId }) => shelf.change('runs', runId, { foundBy: ['another'] }),
    repair: 'healed',
  },
  {
    code: 'SEARCH_WRONG',
    how: 'the search would not find it',
    run: waiting,
    damage: ({ shelf, runId }) => shelf.change('runs', runId, { foundBy: undefined }),
    repair: 'healed',
  },
  {
    code: 'SNAPSHOT_DIFFERENT',
    how: 'lists would show other steps and waits',
    run: completed,
    damage: ({ shelf, runId }) => shelf.change('runs', runId, { listed: '{"head":9000}' }),
    repair: 'healed',
  },
  {
    code: 'INTERRUPTED_WITH_HANDOFF',
    how: 'its drive died while the question was open',
    run: waiting,
    damage: (bench) => {
      const { epoch } = stateAt(bench, bench.shelf.journal().length);
      const lease = { owner: 'o', epoch: epoch + 1 };
      append(bench, [
        said('run_resumed', { reason: 'an event came' }),
        said('run_claimed', { ...lease, expiresAt: 0 }),
        said('orphan_detected', { ...lease, lastHeartbeatAt: 0 }),
      ]);
    },
    repair: 'refused',
  },
];
