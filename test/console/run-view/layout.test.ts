import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { edgePath } from '../../../packages/console/src/pages/run/graph/edge-path.ts';
import {
  boundsOf,
  DAGRE_MOST,
  layOut,
  NODE_HEIGHT,
  NODE_WIDTH,
  type PlanNode,
  partIn,
} from '../../../packages/console/src/pages/run/graph/layout.ts';
import { Walk } from '../../../packages/console/src/pages/run/graph/walk.ts';

/** Plans whose steps need up to three of the eight steps before them. */
function plans(minLength: number, maxLength: number): fc.Arbitrary<PlanNode[]> {
  return fc.array(fc.array(fc.nat({ max: 7 }), { maxLength: 3 }), { minLength, maxLength }).map((backs) =>
    backs.map((back, at) => ({
      id: `s${at}`,
      kind: 'step',
      needs: [...new Set(back.map((by) => at - 1 - by).filter((to) => to >= 0))].map((to) => `s${to}`),
    })),
  );
}

const chain = (length: number): PlanNode[] =>
  Array.from({ length }, (_, at) => ({ id: `s${at}`, kind: 'step', needs: at === 0 ? [] : [`s${at - 1}`] }));
const fan = (length: number): PlanNode[] =>
  Array.from({ length }, (_, at) => ({ id: `s${at}`, kind: 'step', needs: at === 0 ? [] : ['s0'] }));

test('the visible part has every overlapping node, and both ends of each edge', () => {
  const area = fc.record({ left: fc.nat({ max: 2_000 }), top: fc.nat({ max: 2_000 }) });
  fc.assert(
    fc.property(plans(0, DAGRE_MOST + 40), area, (nodes, { left, top }) => {
      const whole = layOut(nodes);
      const part = partIn(whole, { left, top, right: left + 600, bottom: top + 400 });
      const ids = new Set(part.nodes.map(({ id }) => id));
      const isIn = ({ x, y }: { readonly x: number; readonly y: number }) =>
        x + NODE_WIDTH >= left && x <= left + 600 && y + NODE_HEIGHT >= top && y <= top + 400;
      for (const node of whole.nodes) if (isIn(node)) expect(ids).toContain(node.id);
      for (const edge of part.edges) expect([...ids]).toEqual(expect.arrayContaining([edge.from, edge.to]));
      for (const edge of whole.edges)
        if (whole.nodes.some((node) => isIn(node) && [edge.from, edge.to].includes(node.id)))
          expect(part.edges).toContainEqual(edge);
      expect(partIn(whole, { left: -1e9, top: -1e9, right: 1e9, bottom: 1e9 })).toEqual(whole);
    }),
    { numRuns: 20 },
  );
});

describe.each([
  ['few', plans(0, 40), 40],
  ['many', plans(DAGRE_MOST + 1, DAGRE_MOST + 100), 8],
] as const)('a plan of %s steps', (_, plan, numRuns) => {
  test('has each step once, without overlaps, and each need as an edge', () => {
    fc.assert(
      fc.property(plan, (nodes) => {
        const { nodes: placed, edges } = layOut(nodes);
        expect(placed.map(({ id }) => id).sort()).toEqual(nodes.map(({ id }) => id).sort());
        expect(edges.length).toBe(nodes.reduce((sum, { needs }) => sum + needs.length, 0));
        for (const [at, a] of placed.entries())
          for (const b of placed.slice(at + 1))
            if (Math.abs(a.x - b.x) < NODE_WIDTH && Math.abs(a.y - b.y) < NODE_HEIGHT)
              throw new Error(`${a.id} lies over ${b.id}`);
      }),
      { numRuns },
    );
  });

  test('can be traversed by arrow keys along all edges', () => {
    fc.assert(
      fc.property(plan, (nodes) => {
        const walk = new Walk(layOut(nodes));
        for (const { id, needs } of nodes) {
          const up = walk.from(id, 'ArrowUp');
          expect(needs.length === 0 ? up === undefined : needs.includes(up ?? '')).toBe(true);
          const beside = walk.from(id, 'ArrowRight');
          if (beside !== undefined) expect(walk.from(beside, 'ArrowLeft')).toBe(id);
        }
      }),
      { numRuns },
    );
  });
});

test('an edge across layers is routed around their steps', () => {
  fc.assert(
    fc.property(plans(0, 30), (nodes) => {
      const { nodes: placed, edges } = layOut(nodes);
      for (const { through = [] } of edges)
        for (const { x, y } of through)
          for (const node of placed)
            if (node.y < y && y < node.y + NODE_HEIGHT)
              expect(x <= node.x || x >= node.x + NODE_WIDTH).toBe(true);
    }),
    { numRuns: 40 },
  );
  const path = edgePath({ x: 10, y: 0 }, { x: 20, y: 200 }, [{ x: 90, y: 100 }]);
  expect(path).toBe('M10 0 C10 35.5 90 35.5 90 71 L90 129 C90 164.5 20 164.5 20 200');
});

test('the bounds of a layout have each step and each bend of an edge', () => {
  fc.assert(
    fc.property(plans(0, 30), (nodes) => {
      const layout = layOut(nodes);
      const { left, top, right, bottom } = boundsOf(layout);
      const points = [
        ...layout.nodes.flatMap(({ x, y }) => [
          { x, y },
          { x: x + NODE_WIDTH, y: y + NODE_HEIGHT },
        ]),
        ...layout.edges.flatMap(({ through = [] }) => through),
      ];
      for (const { x, y } of points) expect(left <= x && x <= right && top <= y && y <= bottom).toBe(true);
    }),
    { numRuns: 40 },
  );
});

test.each([
  [4, 4],
  [5, 3],
  [12, 3],
  [40, 5],
])('a layer of %i steps has rows of at most %i', (length, across) => {
  const rows = Map.groupBy(layOut(fan(length + 1)).nodes.slice(1), ({ y }) => y);
  expect(Math.max(...rows.values().map((row) => row.length))).toBe(across);
});

test.each([
  ['a chain', chain(5_000)],
  ['a fan', fan(5_000)],
])('%s of 5,000 steps is at most four times as wide as high, or as high as wide', (_, plan) => {
  const { nodes } = layOut(plan);
  const width = Math.max(...nodes.map(({ x }) => x));
  const height = Math.max(...nodes.map(({ y }) => y));
  expect(Math.max(width / height, height / width)).toBeLessThan(4);
});
