import { describe, expect, test } from '@jest/globals';
import {
  type AfterEnd,
  afterEnd,
  type ClaimedEnd,
} from '../../../packages/cairn/src/core/decisions/after-end.ts';

const NOW = { at: undefined };
const THEN = { at: 9 };

describe('after the work on a claimed run', () => {
  const table: readonly (readonly [ClaimedEnd, AfterEnd])[] = [
    [{ kind: 'closed' }, { reportedAs: 'closed', events: 'settle' }],
    [{ kind: 'not_begun' }, { reportedAs: 'waiting', events: 'settle' }],
    [{ kind: 'released' }, { reportedAs: 'released', next: NOW, events: 'publish', mayBeStuck: true }],
    [
      { kind: 'released', dueAt: 9 },
      { reportedAs: 'released', next: THEN, events: 'settle', mayBeStuck: true },
    ],
    [{ kind: 'suspended' }, { reportedAs: 'suspended', events: 'settle' }],
    [
      { kind: 'suspended', dueAt: 9 },
      { reportedAs: 'suspended', next: THEN, events: 'settle' },
    ],
    [
      { kind: 'failed', dueAt: 9 },
      { reportedAs: 'failed', next: THEN, events: 'leave', mayBeStuck: true },
    ],
    [{ kind: 'lease_lost' }, { reportedAs: 'lease_lost', events: 'leave' }],
  ];
  test.each(table)('that ended as %j, %j follows', (end, expected) => {
    expect(afterEnd(end, false)).toEqual(expected);
  });

  test('on an ended run, only completion duties and events remain', () => {
    for (const [end] of table.filter(([{ kind }]) => kind !== 'lease_lost'))
      expect(afterEnd(end, true)).toEqual({ reportedAs: 'closed', events: 'settle' });
  });

  test('on a run of another worker, nothing remains', () => {
    for (const isOver of [false, true])
      expect(afterEnd({ kind: 'lease_lost' }, isOver)).toEqual({ reportedAs: 'lease_lost', events: 'leave' });
  });
});
