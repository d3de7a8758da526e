/** Code trees: the code of a random flow. The same tree runs durably and, for comparison, without durability. */
import type { Draw } from '../data/draw.ts';

export type Tree =
  | {
      readonly kind: 'step';
      readonly name: string;
      readonly path: string;
      readonly ends: 'ok' | 'retried' | 'fails';
    }
  | { readonly kind: 'perform'; readonly path: string }
  | { readonly kind: 'sleep'; readonly name: string; readonly ms: number }
  | { readonly kind: 'event'; readonly name: string; readonly path: string }
  | { readonly kind: 'approval'; readonly name: string; readonly path: string; readonly isApproved: boolean }
  | { readonly kind: 'child'; readonly name: string; readonly path: string; readonly fails: boolean }
  | {
      readonly kind: 'map';
      readonly name: string;
      readonly path: string;
      readonly items: number;
      readonly concurrency: number;
    }
  | { readonly kind: 'sequence'; readonly parts: readonly Tree[] }
  | { readonly kind: 'all'; readonly parts: readonly Tree[] }
  | { readonly kind: 'loop'; readonly times: number; readonly body: Tree }
  /** Depends on the previous value. */
  | { readonly kind: 'branch'; readonly even: Tree; readonly otherwise: Tree }
  | { readonly kind: 'try'; readonly body: Tree; readonly otherwise: Tree }
  | { readonly kind: 'throw'; readonly path: string };

/** Only a few names, so that they are repeated, also in concurrent branches. */
const NAMES = ['a', 'b', 'c'] as const;
const HOUR = 3_600_000;

/** Maximum of operations per tree, without loops. */
const MOST = 14;

export function drawTree(draw: Draw): Tree {
  let left = draw.between(2, MOST);
  let paths = 0;
  return sequence(0);

  function sequence(depth: number): Tree {
    const parts: Tree[] = [];
    const count = draw.between(1, depth === 0 ? 6 : 3);
    while (parts.length < count && left > 0) parts.push(part(depth));
    return { kind: 'sequence', parts };
  }

  function part(depth: number): Tree {
    const isDeep = depth < 3 && draw.chance(0.35);
    return isDeep ? compound(depth + 1) : operation();
  }

  function compound(depth: number): Tree {
    switch (draw.pick(['all', 'all', 'loop', 'branch', 'try'] as const)) {
      case 'all':
        return { kind: 'all', parts: Array.from({ length: draw.between(2, 3) }, () => sequence(depth)) };
      case 'loop':
        return { kind: 'loop', times: draw.between(0, 3), body: sequence(depth) };
      case 'branch':
        return { kind: 'branch', even: sequence(depth), otherwise: sequence(depth) };
      case 'try':
        return { kind: 'try', body: sequence(depth), otherwise: sequence(depth) };
    }
  }

  function operation(): Tree {
    left -= 1;
    paths += 1;
    const name = draw.pick(NAMES);
    const path = `p${paths}`;
    return draw.weighted<Tree>([
      [
        8,
        {
          kind: 'step',
          name,
          path,
          ends: draw.weighted([
            [6, 'ok'],
            [2, 'retried'],
            [1, 'fails'],
          ] as const),
        },
      ],
      [3, { kind: 'perform', path }],
      [3, { kind: 'sleep', name, ms: draw.pick([0, 5_000, HOUR, 30 * HOUR]) }],
      [2, { kind: 'event', name, path }],
      [2, { kind: 'approval', name, path, isApproved: draw.chance(0.8) }],
      [1, { kind: 'child', name, path, fails: draw.chance(0.2) }],
      [2, { kind: 'map', name, path, items: draw.between(0, 4), concurrency: draw.between(1, 3) }],
      [0.5, { kind: 'throw', path }],
    ]);
  }
}
