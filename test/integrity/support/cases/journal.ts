/** Damage of journals. */
import { seqId } from '../../../../packages/cairn/src/core/encoding/ids.ts';
import { append, appendEvents } from '../append.ts';
import { completed, driven, waiting } from '../runs.ts';
import { type Case, said, THIRD } from './case.ts';

export const JOURNAL: readonly Case[] = [
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
    code: 'JOURNAL_UNREADABLE',
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
    how: 'a newer version wrote a checkpoint of an event that makes none',
    run: completed,
    damage: ({ shelf }) => {
      const [id = ''] = shelf.folders.checkpoints.keys();
      shelf.put('checkpoints', seqId(2), { ...shelf.members('checkpoints', id), schemaVersion: 99 });
    },
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
