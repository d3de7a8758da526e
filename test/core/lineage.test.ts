import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  DELETION_GRACE_MS,
  lineageDecision,
  type Member,
  relativesOf,
} from '../../packages/cairn/src/core/retention/lineage.ts';
import {
  expireAt,
  isEndStatus,
  type RetentionOf,
  retentionMs,
} from '../../packages/cairn/src/core/retention/policy.ts';
import { RUN_STATUSES } from '../../packages/cairn/src/core/run/status.ts';

const DAY = 86_400_000;
const NOW = 1_000 * DAY;
/** Failed runs are kept forever, others for thirty days. */
const KEPT: RetentionOf = (_type, status) => (status === 'failed' ? undefined : 30 * DAY);
const HOLD = { by: 'c.ops', at: 0, reason: 'a dispute' };

function member(changes: Partial<Member> = {}): Member {
  return {
    runId: 'run_1',
    type: 'review',
    status: 'completed',
    completedAt: NOW - 30 * DAY,
    hasDuties: false,
    childRunIds: [],
    ...changes,
  };
}

function decision(members: readonly Member[], there: Readonly<Record<string, boolean>> = {}, now = NOW) {
  const relatives = new Map(Object.entries(there).map(([runId, isOver]) => [runId, { isOver }]));
  return lineageDecision({ members, relatives }, { now, retentionOf: KEPT });
}

const marked = { markedAt: NOW };

describe('how long a run is kept', () => {
  test.each([
    [{ completed: 5 }, 'completed', 9, 5],
    [{ completed: 5 }, 'failed', 9, 9],
    [{ completed: 5 }, 'failed', undefined, undefined],
    [{ failed: 'forever' as const }, 'failed', 9, undefined],
    [undefined, 'cancelled', 9, 9],
    [undefined, 'cancelled', undefined, undefined],
  ] as const)('%j, %s, by default %s: %s', (retention, status, byDefault, ms) => {
    expect(retentionMs(retention, status, byDefault)).toBe(ms);
  });

  test('counts from its end, and a run that has not ended is kept', () => {
    expect(expireAt(member(), KEPT)).toBe(NOW);
    expect(expireAt(member({ status: 'failed' }), KEPT)).toBeUndefined();
    expect(expireAt(member({ status: 'running', completedAt: undefined }), KEPT)).toBeUndefined();
  });
});

describe('a lineage is kept', () => {
  test.each([
    ['while one of its runs is live', member({ status: 'running', completedAt: undefined }), 'live'],
    ['while one of them is held', member({ hold: HOLD }), 'held'],
    ['while the end of one concerns others', member({ hasDuties: true }), 'owes'],
    ['until each has been kept long enough', member({ completedAt: NOW - 30 * DAY + 1 }), 'not_due'],
    ['for ever, if one of them does', member({ status: 'failed' }), 'not_due'],
    ['while the parent of one is there, however long over', member({ parentRunId: 'run_p' }), 'parent'],
    ['while a child of one is live', member({ childRunIds: ['run_over', 'run_c'] }), 'child'],
  ])('%s', (_name, one, why) => {
    const members = [member({ runId: 'run_0' }), { ...one, runId: 'run_2' }];
    const there = { run_p: true, run_c: false, run_over: true };
    expect(decision(members, there)).toMatchObject({
      kind: 'keep',
      reason: { why, runId: 'run_2' },
      unmark: [],
    });
  });

  test('and all its marks are removed', () => {
    const members = [member({ ...marked }), member({ runId: 'run_2', hold: HOLD })];
    expect(decision(members)).toMatchObject({ kind: 'keep', unmark: ['run_1'] });
  });

  test('but not because its retention was extended after the mark, since parts may be deleted already', () => {
    const members = [member({ status: 'failed', markedAt: NOW - DELETION_GRACE_MS })];
    expect(decision(members)).toEqual({ kind: 'delete' });
  });
});

describe('a lineage is deleted', () => {
  test('once neither its parent nor its children need it', () => {
    const one = member({ parentRunId: 'run_gone', childRunIds: ['run_over', 'run_gone'] });
    expect(decision([one], { run_over: true })).toEqual({ kind: 'mark', runIds: ['run_1'] });
  });

  test('after all of it has been marked for the grace period', () => {
    const both = [member({ markedAt: NOW - DELETION_GRACE_MS }), member({ runId: 'run_2', ...marked })];
    expect(decision([member(), both[1] as Member])).toEqual({ kind: 'mark', runIds: ['run_1'] });
    expect(decision(both)).toEqual({ kind: 'wait', until: NOW + DELETION_GRACE_MS });
    expect(decision(both, {}, NOW + DELETION_GRACE_MS - 1)).toMatchObject({ kind: 'wait' });
    expect(decision(both, {}, NOW + DELETION_GRACE_MS)).toEqual({ kind: 'delete' });
  });

  test('and the grace period exceeds the longest runtime of a function', () => {
    expect(DELETION_GRACE_MS).toBeGreaterThan(540_000 + 60_000);
  });
});

/** Probability in twentieths. */
const sometimes = <T>(some: fc.Arbitrary<T>, weight: number): fc.Arbitrary<T | undefined> =>
  fc.oneof({ arbitrary: some, weight }, { arbitrary: fc.constant(undefined), weight: 20 - weight });
const anyMember = (runId: string): fc.Arbitrary<Member> =>
  fc.record({
    runId: fc.constant(runId),
    type: fc.constantFrom('a', 'b'),
    status: fc.oneof(
      { arbitrary: fc.constantFrom(...RUN_STATUSES), weight: 1 },
      { arbitrary: fc.constantFrom('completed' as const, 'cancelled' as const), weight: 9 },
    ),
    completedAt: fc.integer({ min: NOW - 90 * DAY, max: NOW - 20 * DAY }),
    hasDuties: sometimes(fc.constant(true), 1).map((has) => has ?? false),
    hold: sometimes(fc.constant(HOLD), 1),
    markedAt: sometimes(fc.integer({ min: NOW - 2 * DELETION_GRACE_MS, max: NOW }), 12),
    parentRunId: sometimes(fc.constantFrom('run_p', 'run_gone', 'run_0'), 3),
    childRunIds: fc.subarray(['run_live', 'run_over', 'run_gone'], { maxLength: 1 }),
  });
const lineages = fc
  .integer({ min: 1, max: 4 })
  .chain((size) => fc.tuple(...Array.from({ length: size }, (_, n) => anyMember(`run_${n}`))));
const there = new Map([
  ['run_p', { isOver: true }],
  ['run_live', { isOver: false }],
  ['run_over', { isOver: true }],
]);

test('a lineage is marked or deleted exactly if no reason to keep it applies', () => {
  const seen = new Set<string>();
  fc.assert(
    fc.property(lineages, fc.subarray([...there.keys()]), (members, names) => {
      const relatives = new Map([...there].filter(([name]) => names.includes(name)));
      const decision = lineageDecision({ members, relatives }, { now: NOW, retentionOf: KEPT });
      seen.add(decision.kind === 'keep' ? decision.reason.why : decision.kind);
      const speaksAgainst = members.some(
        ({ status, hasDuties, hold, markedAt, completedAt = 0, parentRunId = '', childRunIds }) =>
          !isEndStatus(status) ||
          hasDuties ||
          hold !== undefined ||
          (markedAt === undefined && (status === 'failed' || completedAt + 30 * DAY > NOW)) ||
          relatives.has(parentRunId) ||
          childRunIds.some((child) => child === 'run_live' && relatives.has(child)),
      );
      expect(decision.kind === 'keep').toBe(speaksAgainst);
      const unmarked = members.filter(({ markedAt }) => markedAt === undefined).map(({ runId }) => runId);
      if (decision.kind === 'mark') expect(decision.runIds).toEqual(unmarked);
      if (decision.kind === 'delete')
        for (const { markedAt = NOW } of members)
          expect(NOW - markedAt).toBeGreaterThanOrEqual(DELETION_GRACE_MS);
      if (decision.kind === 'keep')
        expect([...decision.unmark, ...unmarked].sort()).toEqual(members.map(({ runId }) => runId).sort());
    }),
    { numRuns: 3_000 },
  );
  expect([...seen].sort()).toEqual(
    ['child', 'delete', 'held', 'live', 'mark', 'not_due', 'owes', 'parent', 'wait'].sort(),
  );
});

test('the relatives of a lineage are the other lineages that its runs name, each once', () => {
  const members = [
    member({ parentRunId: 'run_p', childRunIds: ['run_c', 'run_2'] }),
    member({ runId: 'run_2', parentRunId: 'run_p', childRunIds: ['run_c', 'run_d'] }),
  ];
  expect(relativesOf(members)).toEqual(['run_p', 'run_c', 'run_d']);
});
