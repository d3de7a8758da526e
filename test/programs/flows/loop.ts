/** A random loop beside the tree, and the result of its turns without durability. */
import type { Draw } from '../data/draw.ts';
import { mixed, worth } from './run-tree.ts';

export interface Loop {
  readonly first: number;
  readonly turns: number;
  readonly pauseMs?: number;
  /** True if each turn acts externally. */
  readonly acts: boolean;
  /** True if the first attempt of each turn fails. */
  readonly isRetried: boolean;
  /** Number of turns after which it continues in child runs; absent: it stays in its run. */
  readonly turnsOfARun?: number;
}

const HOUR = 3_600_000;

export function drawLoop(draw: Draw): Loop {
  const pauseMs = draw.pick(['none', 0, 5_000, HOUR] as const);
  const loop = {
    first: draw.below(100),
    turns: draw.between(0, 5),
    ...(pauseMs === 'none' ? {} : { pauseMs }),
    acts: draw.chance(0.5),
    isRetried: draw.chance(0.3),
  };
  const turnsOfARun = draw.pick(['all', 1, 2] as const);
  return turnsOfARun === 'all' ? loop : { ...loop, turnsOfARun };
}

/** The place from which a turn acts. */
export function turnOf(turn: number): string {
  return `loop/${turn}`;
}

export interface LoopPrediction {
  readonly value: number;
  readonly acted: readonly string[];
  /** Number of turns and pauses, in all its runs. */
  readonly operations: number;
}

export function predictLoop({ first, turns, pauseMs, acts }: Loop): LoopPrediction {
  const places = Array.from({ length: turns }, (_, i) => turnOf(i + 1));
  return {
    value: places.reduce((state, at) => mixed(state, worth(at)), first),
    acted: acts ? places : [],
    operations: turns + (pauseMs === undefined ? 0 : Math.max(0, turns - 1)),
  };
}
