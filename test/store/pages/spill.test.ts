import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Map as PersistentMap } from 'immutable';
import type { CompensationEntry, RunState, StepState } from '../../../packages/cairn/src/core/run/state.ts';
import { decodeSnapshot, encodeNewSnapshot } from '../../../packages/cairn/src/store/codec/snapshot.ts';
import {
  namedBy,
  PAGE_BYTES,
  pagesOf,
  restored,
  SNAPSHOT_BUDGET_BYTES,
  spill,
} from '../../../packages/cairn/src/store/pages/spill.ts';
import * as any from '../arbitraries.ts';

const [base] = fc.sample(any.runState, { numRuns: 1, seed: 7 }) as [RunState];

function withSteps(done: number, open = 0, id = 'm'.repeat(100)): RunState {
  const entries: [string, StepState][] = [];
  for (let i = 0; i < done; i += 1)
    entries.push([`${id}[${i}]`, { phase: 'done', seq: i + 1, revision: 1, outcome: 'succeeded' }]);
  for (let i = done; i < done + open; i += 1)
    entries.push([`${id}[${i}]`, { phase: 'running', seq: i + 1, revision: 1, attempt: 1, startedAt: 7 }]);
  return { ...base, steps: PersistentMap(entries) };
}

const undone = (count: number, message = 'no'): CompensationEntry[] =>
  Array.from({ length: count }, (_, i) => ({
    stepId: `undo[${i}]`,
    revision: 1,
    outcome: 'failed',
    at: i,
    error: { code: 'STEP_FAILED', message, retryable: true },
  }));

function spilledOf(state: RunState) {
  const members = encodeNewSnapshot(state);
  const spilled = spill(members, state);
  if (!spilled) throw new Error('the document has room for all of it');
  return { ...spilled, stored: { ...members, ...spilled.members } };
}

function readBack({ stored, pages }: ReturnType<typeof spilledOf>): RunState {
  const names = pagesOf(stored);
  if (!names) throw new Error('the document names no pages');
  expect(namedBy(names).toSorted()).toEqual([...pages.keys()].toSorted());
  return decodeSnapshot(restored(stored, names, pages), 'it');
}

const bytesOf = (text: unknown) => Buffer.byteLength(String(text));

describe('a run document', () => {
  test('below its budget is stored as it is', () => {
    fc.assert(
      fc.property(any.runState, (state) => {
        expect(spill(encodeNewSnapshot(state), state)).toBeUndefined();
      }),
      { numRuns: 30 },
    );
    expect(spill(encodeNewSnapshot(withSteps(6_000)), withSteps(6_000))).toBeUndefined();
  });

  test('above it is restored from what stays and its pages, whatever it contains', () => {
    const lists = fc.record({
      steps: fc.nat({ max: 10_000 }),
      undos: fc.nat({ max: 3_000 }),
      message: fc.constantFrom('no', '\u0001'.repeat(240), '界'.repeat(240)),
      // Adds entries of all other kinds and lengths.
      state: any.runState,
    });
    fc.assert(
      fc.property(lists, ({ steps, undos, message, state }) => {
        const large = { ...state, steps: withSteps(steps).steps, compensationLog: undone(undos, message) };
        const members = encodeNewSnapshot(large);
        const spilled = spill(members, large);
        if (!spilled) return;
        expect(readBack(spilledOf(large))).toEqual(large);
        const stored = { ...members, ...spilled.members };
        const total = Object.values(stored).reduce<number>(
          (sum, member) => sum + (typeof member === 'string' ? bytesOf(member) : 0),
          0,
        );
        // The names of pages are not part of the budget.
        expect(total).toBeLessThan(SNAPSHOT_BUDGET_BYTES + 32 * 1024);
        for (const page of spilled.pages.values()) expect(bytesOf(page)).toBeLessThan(PAGE_BYTES + 16 * 1024);
      }),
      { numRuns: 8 },
    );
  });

  test('keeps its full pages unchanged while steps end and are undone', () => {
    const before = spilledOf(withSteps(8_000, 64));
    const after = spilledOf({ ...withSteps(9_000, 64), compensationLog: undone(100) });
    expect([...before.pages.keys()].every((page) => after.pages.has(page))).toBe(true);
    expect(before.pages.size).toBeGreaterThan(4);
    expect(after.pages.size - before.pages.size).toBeLessThanOrEqual(1);
  });

  test('keeps entries that can still change out of its pages', () => {
    const { pages, stored } = spilledOf(withSteps(8_000, 64));
    expect(String(stored.steps).match(/o@/g)).toHaveLength(64);
    for (const page of pages.values()) expect(page).not.toContain('o@');
  });

  test('reopens a partial page where full pages are not enough', () => {
    const waits = Array.from({ length: 600 }, (_, i) => ({
      id: `w${i}`,
      kind: 'approval' as const,
      execution: {
        stepId: 'ask',
        revision: 1,
        kind: 'approval' as const,
        attempt: 1,
        inputsHash: '',
        startedAt: 1,
      },
      openedAt: 1,
      detailText: 'q'.repeat(700),
    }));
    const state = {
      ...withSteps(1_500),
      waits,
      compensationLog: undone(450, 'x'.repeat(100)),
    };
    expect(readBack(spilledOf(state))).toEqual(state);
  });

  test('that an earlier version rewrote without its pages is read as that version wrote it', () => {
    const { stored } = spilledOf(withSteps(8_000));
    const small = withSteps(3);
    const overwritten = { ...encodeNewSnapshot(small), pages: stored.pages };
    expect(pagesOf(overwritten)).toBeUndefined();
    expect(decodeSnapshot(overwritten, 'it')).toEqual(small);
  });

  test('with changed page names is undecodable, and the error shows none of its content', () => {
    const { stored } = spilledOf(withSteps(8_000));
    for (const pages of ['secret', '{"of":1}', '{"lists":{"steps":["secret"]},"of":1}', 7, null]) {
      expect(() => decodeSnapshot({ ...stored, pages }, 'it')).toThrow("member 'pages' does not name pages");
    }
  });
});
