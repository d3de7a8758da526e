import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { givenName as nameInCode, OperationNames } from '../../../packages/cairn/src/core/flow/names.ts';
import {
  innerCounts,
  stepCountText,
  sumOf,
  tableRows,
} from '../../../packages/console/src/pages/run/graph/table-rows.ts';
import type { GraphStepState } from '../../../packages/console/src/pages/run/live/events.ts';
import { givenName, isOperation } from '../../../packages/console/src/pages/run/live/operations.ts';
import type { StepHistory } from '../../../packages/console/src/pages/run/live/span.ts';

const FLOW = [{ id: 'flow', kind: 'flow', needs: [] }];
const NOBODY: ReadonlySet<string> = new Set();

/** Steps as the API lists them, by id, and their histories by the seq of their first events. */
function known(seqs: Readonly<Record<string, number>>) {
  const keys = Object.keys(seqs).sort();
  const steps = new Map<string, GraphStepState>(
    keys.map((key) => [key, { key, phase: 'done', seq: 900, revision: 1, outcome: 'succeeded' }]),
  );
  const histories = new Map<string, StepHistory>(
    Object.entries(seqs).map(([key, seq]) => [
      key,
      {
        key,
        kind: 'step',
        attempts: 1,
        effects: [],
        spans: [{ kind: 'attempt', seq, revision: 1, attempt: 1, from: 0 }],
      },
    ]),
  );
  return { steps, histories };
}

const LOOP = {
  flow: 2,
  'flow[ask]': 3,
  'flow[look-up]': 4,
  'flow[ask.2]': 5,
  'flow[look-up.2]': 6,
  'flow[ask.10]': 30,
  'flow[send]': 40,
};

test('operations are listed in the order they ran, not by name', () => {
  const { steps, histories } = known(LOOP);
  const rows = tableRows(FLOW, steps, histories, { isFolded: false, open: NOBODY });
  expect(rows.map(({ key }) => key)).toEqual(Object.keys(LOOP));
});

test('an operation without a known event comes last', () => {
  const { steps, histories } = known(LOOP);
  const begun = {
    phase: 'running',
    seq: 1,
    attempt: 1,
    revision: 1,
    startedAt: '2026-01-01T00:00:00Z',
  } as const;
  steps.set('flow[a]', { key: 'flow[a]', ...begun });
  const rows = tableRows(FLOW, steps, histories, { isFolded: false, open: NOBODY });
  expect(rows.at(-1)?.key).toBe('flow[a]');
});

test('turns of one operation are one expandable row', () => {
  const { steps, histories } = known(LOOP);
  const folded = tableRows(FLOW, steps, histories, { isFolded: true, open: NOBODY });
  expect(
    folded.map((row) => (row.kind === 'turns' ? `${row.name} x${row.members.length}` : row.key)),
  ).toEqual(['flow', 'ask x3', 'look-up x2', 'flow[send]']);
  const open = tableRows(FLOW, steps, histories, { isFolded: true, open: new Set(['flow[look-up]']) });
  expect(open.map(({ kind, key }) => `${kind} ${key}`)).toEqual([
    'step flow',
    'turns flow[ask]',
    'turns flow[look-up]',
    'step flow[look-up]',
    'step flow[look-up.2]',
    'step flow[send]',
  ]);
  expect(innerCounts(steps)).toMatchObject({ operations: 6, repeated: 2 });
});

test('items of a map stay in the order of their numbers', () => {
  const { steps, histories } = known({ 'read[10]': 2, 'read[9]': 3 });
  const rows = tableRows([{ id: 'read', kind: 'map', needs: [] }], steps, histories, {
    isFolded: true,
    open: NOBODY,
  });
  expect(rows.map(({ key }) => key)).toEqual(['read', 'read[9]', 'read[10]']);
});

test('turns have the state of the open one or the last, and counts by state', () => {
  const turn = (status: string, durationMs?: number) => ({
    ...{ kind: 'step', status, attempts: 1, revision: 1, durationMs, more: '' },
  });
  expect(sumOf([turn('failed', 5), turn('succeeded', 7)])).toMatchObject({
    status: 'succeeded',
    durationMs: 12,
    more: '1 failed, 1 succeeded',
  });
  expect(sumOf([turn('waiting'), turn('succeeded', 7)])).toMatchObject({ status: 'waiting', durationMs: 7 });
});

test('names are parsed back from the keys that the engine makes', () => {
  const name = fc.stringMatching(/^[A-Za-z][A-Za-z0-9_.-]{0,20}$/).filter((given) => !/\.\d+$/.test(given));
  fc.assert(
    fc.property(name, fc.integer({ min: 1, max: 12 }), fc.option(fc.nat(20)), (given, times, index) => {
      const names = new OperationNames();
      let operation = '';
      for (let n = 0; n < times; n += 1) operation = names.next(given);
      if (index !== null) operation = `${operation}[${index}]`;
      const key = `flow[${operation}]`;
      expect(isOperation(key)).toBe(true);
      expect(givenName(key)).toBe(given);
      expect(nameInCode(operation)).toBe(given);
    }),
  );
});

test('operations and items count as steps, as in the sentence about the run and in the list', () => {
  expect(stepCountText(1, { operations: 121, items: 0 }, true)).toBe(
    '122 steps: 1 of the plan, 121 operations',
  );
  expect(stepCountText(3, { operations: 0, items: 1_200 }, false)).toBe(
    '1,203 steps started: 3 steps, 1,200 items',
  );
  expect(stepCountText(1, { operations: 0, items: 0 }, true)).toBe('1 step');
});
