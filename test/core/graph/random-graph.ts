/** Random acyclic graphs for property tests. The order of declaration differs from the order of needs. */
import fc from 'fast-check';
import type { GraphNode } from '../../../packages/cairn/src/core/graph/graph.ts';

const MAX_NODES = 9;

/** One to nine steps; each needs some of the steps before it in a hidden order. */
export function acyclicNodes(): fc.Arbitrary<GraphNode[]> {
  return fc
    .array(
      fc.record({
        needMask: fc.nat(2 ** MAX_NODES - 1),
        ifSkipped: fc.constantFrom<'skip' | 'run' | undefined>('skip', 'run', undefined),
        rank: fc.nat(),
      }),
      { minLength: 1, maxLength: MAX_NODES },
    )
    .map((drawn) =>
      drawn
        .map(({ needMask, ifSkipped, rank }, index) => ({
          rank,
          node: {
            id: `s${index}`,
            needs: Array.from({ length: index }, (_, need) => need)
              .filter((need) => needMask & (1 << need))
              .map((need) => `s${need}`),
            ifSkipped,
          },
        }))
        .sort((a, b) => a.rank - b.rank)
        .map(({ node }) => node),
    );
}
