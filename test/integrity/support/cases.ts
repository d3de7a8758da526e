/** For every problem, ways to make it by hand, and what a repair does about it. */
import { Timestamp } from '@google-cloud/firestore';
import type { IdempotencyRecord } from '../../../functions/src/core/decisions/idempotency.ts';
import { seqId } from '../../../functions/src/core/encoding/ids.ts';
import { encodeKey } from '../../../functions/src/core/encoding/keys.ts';
import type { ProblemCode } from '../../../functions/src/core/integrity/problems.ts';
import type { EventDraft, EventType } from '../../../functions/src/core/run/events.ts';
import { rendezvousId } from '../../../functions/src/ports/rendezvous-store.ts';
import { append, appendEvents, putSnapshot, stateAt } from './append.ts';
import { type Bench, TENANT } from './bench.ts';
import { completed, driven, halted, startedLarge, waiting } from './runs.ts';

export interface Case {
  readonly code: ProblemCode;
  readonly how: string;
  readonly run: () => Promise<Bench>;
  readonly damage: (bench: Bench) => void;
  /** `healed`: nothing is left. `refused`: a person has to see to it. */
  readonly repair: 'healed' | 'refused';
  /** What else is wrong then. */
  readonly also?: readonly ProblemCode[];
}

const THIRD = seqId(3);
const RENDEZVOUS = { tenantId: TENANT, event: 'built', key: 'main' };

const journal: Case[] = [
  {
    code: 'JOURNAL_GAP',
    how: 'an event is deleted',
    run: completed,
    damage: ({ shelf }) => shelf.delete('events', THIRD),
    repair: 'refused',
  },
  {
    code: 'JOURNAL_FORK',
    how: 'two events change places',
    run: completed,
    damage: ({ shelf }) => {
      const [third, fourth] = [shelf.members('events', THIRD), shelf.members('events', seqId(4))];
      shelf.put('events', THIRD, fourth);
      shelf.put('events', seqId(4), third);
    },
    repair: 'refused',
  },
  {
    code: 'JOURNAL_FORK',
    how: 'an event follows another one than the one before',
    run: completed,
    damage: ({ shelf }) => shelf.change('events', THIRD, { prevHash: '0'.repeat(64) }),
    repair: 'refused',
  },
  {
    code: 'JOURNAL_HASH_BREAK',
    how: 'who did it is changed',
    run: completed,
    damage: ({ shelf }) => shelf.change('events', THIRD, { initiator: 'approval', actor: 'u.somebody' }),
    repair: 'refused',
  },
  {
    code: 'JOURNAL_HASH_BREAK',
    how: 'its data is a bare word',
    run: completed,
    damage: ({ shelf }) => shelf.change('events', THIRD, { data: '"data"' }),
    repair: 'refused',
  },
  {
    code: 'JOURNAL_UNREADABLE',
    how: 'the data of an event is cut off',
    run: completed,
    damage: ({ shelf }) => {
      const { data } = shelf.members('events', seqId(1));
      shelf.change('events', seqId(1), { data: String(data).slice(0, 20) });
    },
    repair: 'refused',
  },
  {
    code: 'JOURNAL_IMPOSSIBLE',
    how: 'something happens after the end, rightly sealed',
    run: completed,
    damage: (bench) =>
      append(bench, [said('signal_received', { signalId: 's', name: 'n', payloadText: '1' })]),
    repair: 'refused',
  },
  {
    code: 'JOURNAL_IMPOSSIBLE',
    how: 'a wait ends that never began, rightly sealed',
    run: waiting,
    damage: (bench) => appendEvents(bench, [said('wait_expired', { waitId: 'nowhere.1' })]),
    repair: 'refused',
  },
  {
    code: 'JOURNAL_MISSING',
    how: 'all events are deleted',
    run: completed,
    damage: ({ shelf }) => {
      for (const id of [...shelf.folders.events.keys()]) shelf.delete('events', id);
    },
    repair: 'refused',
  },
  {
    code: 'JOURNAL_TAIL_CUT',
    how: 'the newest event of a driven run is deleted, and the document of its step is there',
    run: driven,
    damage: ({ shelf }) => shelf.delete('events', seqId(shelf.journal().length)),
    repair: 'refused',
  },
  {
    code: 'JOURNAL_TAIL_CUT',
    how: 'the newest events of a driven run are deleted, and a checkpoint of one is there',
    run: driven,
    damage: ({ shelf }) => {
      const head = shelf.journal().length;
      for (const seq of [head, head - 1]) shelf.delete('events', seqId(seq));
    },
    repair: 'refused',
  },
  {
    code: 'JOURNAL_TAIL_CUT',
    how: 'more events of a driven run were published than there are',
    run: driven,
    damage: ({ shelf, runId }) => shelf.change('runs', runId, { soft: { publishedSeq: 99 } }),
    repair: 'refused',
  },
  {
    code: 'NEWER_SCHEMA',
    how: 'a newer version wrote an event',
    run: completed,
    damage: ({ shelf }) => shelf.change('events', THIRD, { schemaVersion: 99 }),
    repair: 'refused',
  },
  {
    code: 'NEWER_SCHEMA',
    how: 'a newer version wrote the run document',
    run: completed,
    damage: ({ shelf, runId }) => shelf.change('runs', runId, { schemaVersion: 99 }),
    repair: 'refused',
  },
];

const snapshot: Case[] = [
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
    how: 'its status is no status and its waits are no waits',
    run: waiting,
    damage: ({ shelf, runId }) => shelf.change('runs', runId, { status: 'lost', waits: '{"id":1}' }),
    repair: 'healed',
    also: ['EVENT_WITHOUT_WAIT'],
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

const documents: Case[] = [
  {
    code: 'CHECKPOINT_MISSING',
    how: 'of a boundary without an output',
    run: completed,
    damage: (bench) => bench.shelf.delete('checkpoints', checkpointOf(bench, 'run_started')),
    repair: 'healed',
  },
  {
    code: 'CHECKPOINT_MISSING',
    how: 'with an output that its event tells in full',
    run: completed,
    damage: (bench) => bench.shelf.delete('checkpoints', checkpointOf(bench, 'short')),
    repair: 'healed',
  },
  {
    code: 'CHECKPOINT_MISSING',
    how: 'with an output that another step has as well',
    run: completed,
    damage: (bench) => bench.shelf.delete('checkpoints', checkpointOf(bench, 'twin')),
    repair: 'healed',
  },
  {
    code: 'CHECKPOINT_MISSING',
    how: 'with an output that nobody else has',
    run: completed,
    damage: (bench) => bench.shelf.delete('checkpoints', checkpointOf(bench, 'last')),
    repair: 'refused',
  },
  {
    code: 'CHECKPOINT_MISSING',
    how: 'with the result of the run',
    run: completed,
    damage: (bench) => bench.shelf.delete('checkpoints', checkpointOf(bench, 'run_finished')),
    repair: 'refused',
  },
  {
    code: 'CHECKPOINT_MISSING',
    how: 'with the input of the run',
    run: startedLarge,
    damage: (bench) => bench.shelf.delete('checkpoints', checkpointOf(bench, 'run_created')),
    repair: 'refused',
  },
  {
    code: 'CHECKPOINT_UNREADABLE',
    how: 'its time is a number',
    run: completed,
    damage: (bench) => bench.shelf.change('checkpoints', checkpointOf(bench, 'long'), { at: 5 }),
    repair: 'healed',
  },
  {
    code: 'CHECKPOINT_UNREADABLE',
    how: 'its time is a number, and its output is nowhere else',
    run: completed,
    damage: (bench) => bench.shelf.change('checkpoints', checkpointOf(bench, 'last'), { at: 5 }),
    repair: 'refused',
  },
  {
    code: 'CHECKPOINT_DIFFERENT',
    how: 'it follows another one, and counts other tokens',
    run: completed,
    damage: (bench) =>
      bench.shelf.change('checkpoints', checkpointOf(bench, 'last'), {
        parent: 1,
        tokensUsed: { input: 1, output: 1 },
      }),
    repair: 'healed',
  },
  {
    code: 'CHECKPOINT_DIFFERENT',
    how: 'of one with a large output',
    run: completed,
    damage: (bench) => bench.shelf.change('checkpoints', checkpointOf(bench, 'huge'), { stepId: 'huger' }),
    repair: 'healed',
  },
  {
    code: 'CHECKPOINT_OUTPUT_WRONG',
    how: 'the output was changed, and is nowhere else',
    run: completed,
    damage: (bench) => bench.shelf.change('checkpoints', checkpointOf(bench, 'last'), { output: '"y"' }),
    repair: 'refused',
  },
  {
    code: 'CHECKPOINT_OUTPUT_WRONG',
    how: 'the output was changed, and its event tells it in full',
    run: completed,
    damage: (bench) => bench.shelf.change('checkpoints', checkpointOf(bench, 'short'), { output: '2' }),
    repair: 'healed',
  },
  {
    code: 'CHECKPOINT_OUTPUT_WRONG',
    how: 'the result was changed',
    run: completed,
    damage: (bench) =>
      bench.shelf.change('checkpoints', checkpointOf(bench, 'run_finished'), { output: '{"long":""}' }),
    repair: 'refused',
  },
  {
    code: 'CHECKPOINT_ORPHANED',
    how: 'there is one of an event that makes none',
    run: completed,
    damage: (bench) =>
      bench.shelf.put(
        'checkpoints',
        seqId(2),
        bench.shelf.members('checkpoints', checkpointOf(bench, 'long')),
      ),
    repair: 'healed',
  },
  {
    code: 'PAYLOAD_DAMAGED',
    how: 'its chunks are gone',
    run: completed,
    damage: ({ world }) => world.db.payloads.clear(),
    repair: 'refused',
  },
  {
    code: 'STEP_MISSING',
    how: 'it is deleted',
    run: completed,
    damage: ({ shelf }) => shelf.delete('steps', 'long'),
    repair: 'healed',
  },
  {
    code: 'STEP_UNREADABLE',
    how: 'its kind is a number',
    run: completed,
    damage: ({ shelf }) => shelf.change('steps', 'long', { kind: 7 }),
    repair: 'healed',
  },
  {
    code: 'STEP_DIFFERENT',
    how: 'it says that the step failed',
    run: completed,
    damage: ({ shelf }) => shelf.change('steps', 'long', { status: 'failed', errorTrace: 'no' }),
    repair: 'healed',
  },
  {
    code: 'STEP_DIFFERENT',
    how: 'two have changed places',
    run: completed,
    damage: ({ shelf }) => {
      const [long, short] = [shelf.members('steps', 'long'), shelf.members('steps', 'short')];
      shelf.put('steps', 'long', short);
      shelf.put('steps', 'short', long);
    },
    repair: 'healed',
  },
  {
    code: 'STEP_ORPHANED',
    how: 'there is one of a step that never began',
    run: waiting,
    damage: ({ shelf }) =>
      shelf.put('steps', encodeKey('never[0]'), { ...shelf.members('steps', 'first'), id: 'never[0]' }),
    repair: 'healed',
  },
];

const surroundings: Case[] = [
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

export const CASES: readonly Case[] = [...journal, ...snapshot, ...documents, ...surroundings];

function said<T extends EventType>(type: T, data: Extract<EventDraft, { type: T }>['data']): EventDraft {
  return { type, data, initiator: 'system' } as unknown as EventDraft;
}

function isResolved({ type }: { readonly type: EventType }): boolean {
  return type === 'wait_resolved';
}

/** Id of the checkpoint of a step, or at a boundary. */
function checkpointOf({ shelf }: Bench, which: string): string {
  const found = shelf
    .all()
    .find(
      ({ folder, members }) =>
        folder === 'checkpoints' && (members.stepId === which || members.boundary === which),
    );
  if (!found) throw new Error(`there is no checkpoint '${which}'`);
  return found.id;
}

function changeRecord({ world }: Bench, changes: Partial<IdempotencyRecord>): void {
  for (const [key, { record, version }] of world.db.records)
    world.db.records.set(key, { record: { ...record, ...changes }, version });
}
