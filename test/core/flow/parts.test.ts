import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  declaredType,
  type LoopMove,
  type LoopSituation,
  loopMove,
  loopOfPart,
  MAX_TURNS_IN_A_RUN,
  partType,
} from '../../../packages/cairn/src/core/flow/parts.ts';

const LONG = MAX_TURNS_IN_A_RUN + 1;
const run = { from: undefined, turnsOfARun: 1_000, hasParts: false };
const part = { ...run, from: 2_000 };

describe('a continuing loop', () => {
  test.each<[string, LoopSituation, LoopMove]>([
    ['begins', { ...run, turn: 0, max: LONG }, 'turn'],
    ['has room in its run', { ...run, turn: 999, max: LONG }, 'turn'],
    ['has had the turns of its run', { ...run, turn: 1_000, max: LONG }, 'part'],
    ['stays in its run if it is short', { ...run, turn: 1_000, max: MAX_TURNS_IN_A_RUN }, 'turn'],
    ['has had its most turns', { ...run, turn: 10, max: 10 }, 'limit'],
    ['has had its most turns in a part', { ...run, turn: LONG, max: LONG, hasParts: true }, 'limit'],
    ['has parts, and its limit was lowered', { ...run, turn: 3_000, max: 4_000, hasParts: true }, 'part'],
    ['began its part', { ...part, turn: 2_000, max: LONG }, 'turn'],
    ['has room in its part', { ...part, turn: 2_999, max: LONG }, 'turn'],
    ['has had the turns of its part', { ...part, turn: 3_000, max: LONG }, 'return'],
    ['has had its most turns amid a part', { ...part, turn: 2_500, max: 2_500 }, 'return'],
  ])('%s', (_, situation, move) => {
    expect(loopMove(situation)).toBe(move);
  });

  test('runs each turn once, in order, within the limit per run, wherever a dispatch ends', () => {
    const given = fc.record({
      max: fc.integer({ min: LONG, max: LONG + 60 }),
      turnsOfARun: fc.integer({ min: 300, max: 2_000 }),
      turns: fc.integer({ min: 0, max: LONG + 80 }),
    });
    fc.assert(
      fc.property(given, ({ max, turnsOfARun, turns }) => {
        const isOver = (turn: number) => turn >= turns;
        const runs: number[] = [];
        let turn = 0;
        let hasParts = false;
        const take = (from: number | undefined): LoopMove | 'over' => {
          for (;;) {
            if (isOver(turn)) return 'over';
            const move = loopMove({ turn, from, max, turnsOfARun, hasParts });
            if (move !== 'turn') return move;
            turn += 1;
            runs.push((runs.pop() ?? 0) + 1);
          }
        };
        runs.push(0);
        let end = take(undefined);
        while (end === 'part') {
          hasParts = true;
          runs.push(0);
          const before = turn;
          expect(['return', 'over']).toContain(take(turn));
          expect(turn).toBeGreaterThan(before);
          end = isOver(turn) ? 'over' : loopMove({ turn, from: undefined, max, turnsOfARun, hasParts });
        }
        expect(end).toBe(turns > max ? 'limit' : 'over');
        expect(turn).toBe(Math.min(turns, max));
        expect(Math.max(...runs)).toBeLessThanOrEqual(turnsOfARun);
        expect(runs.length).toBe(Math.max(1, Math.ceil(turn / turnsOfARun)));
      }),
    );
  });
});

test('the loop is derived from the type of its part, for any loop name', () => {
  const type = fc.stringMatching(/^[a-z][a-z0-9]{0,8}(-[a-z0-9]{1,8}){0,3}$/);
  const loop = fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,20}$/);
  fc.assert(
    fc.property(type, loop, (declared, loopId) => {
      expect(loopOfPart(partType(declared, loopId))).toEqual({ type: declared, loopId });
      expect(declaredType(partType(declared, loopId))).toBe(declared);
      expect(loopOfPart(declared)).toBeUndefined();
      expect(declaredType(declared)).toBe(declared);
    }),
  );
});
