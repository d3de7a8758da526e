import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { CairnError } from '../../../packages/cairn/src/core/errors.ts';
import { buildGraph, type GraphNode, MAX_STEPS } from '../../../packages/cairn/src/core/graph/graph.ts';
import { acyclicNodes } from './random-graph.ts';

const node = (id: string, ...needs: string[]): GraphNode => ({ id, needs });

function refusal(nodes: readonly GraphNode[]): CairnError {
  try {
    buildGraph(nodes);
  } catch (error) {
    if (error instanceof CairnError) return error;
    throw error;
  }
  throw new Error('the graph was accepted');
}

describe('validation', () => {
  test.each<[string, readonly GraphNode[], string, string]>([
    ['an id used twice', [node('a'), node('a')], 'a', 'is declared twice'],
    ['an unknown need', [node('a'), node('b', 'a', 'x')], 'b', 'needs "x", which does not exist'],
    ['a need of itself', [node('a', 'a')], 'a', 'is part of a cycle: a needs a'],
    [
      'a cycle behind sound steps',
      [node('r'), node('a', 'c', 'r'), node('b', 'a'), node('c', 'b'), node('t', 'c')],
      'a',
      'is part of a cycle: a needs c needs b needs a',
    ],
    ['an empty id', [node('')], '', 'has no valid id'],
    ['an id that starts with a dot', [node('.a')], '.a', 'has no valid id'],
    ['an id with the brackets of an item', [node('a[0]')], 'a[0]', 'has no valid id'],
    ['an id that ends with a line break', [node('a\n')], 'a\n', 'has no valid id'],
    ['an id of 101 characters', [node('a'.repeat(101))], 'a'.repeat(101), 'has no valid id'],
  ])('%s is refused, naming the step', (_what, nodes, stepId, problem) => {
    const error = refusal(nodes);
    expect(error.code).toBe('INVALID_INPUT');
    expect(error.stepId).toBe(stepId);
    expect(error.message).toContain(`step "${stepId}" ${problem}`);
  });

  test('ids at the limits are accepted', () => {
    const ids = ['0', 'A.b_c-d', 'a'.repeat(100)];
    expect(buildGraph(ids.map((id) => node(id))).order).toEqual(ids);
  });

  test('the maximum number of steps is accepted and one more refused', () => {
    const chain = Array.from({ length: MAX_STEPS + 1 }, (_, n) =>
      n === 0 ? node('s0') : node(`s${n}`, `s${n - 1}`),
    );
    expect(buildGraph(chain.slice(0, MAX_STEPS)).order).toHaveLength(MAX_STEPS);
    expect(refusal(chain).message).toContain('10001');
  });

  test('a cycle of ten thousand steps is found and named from end to end', () => {
    const ring = Array.from({ length: MAX_STEPS }, (_, n) => node(`s${n}`, `s${(n + 1) % MAX_STEPS}`));
    expect(refusal(ring).message).toMatch(
      /^step "s0" is part of a cycle: s0 needs s1 needs .* needs s9999 needs s0$/,
    );
  });

  test('an edge that closes a cycle in a random graph is refused', () => {
    fc.assert(
      fc.property(acyclicNodes(), fc.nat(), (nodes, pick) => {
        const graph = buildGraph(nodes);
        const start = nodes[pick % nodes.length]?.id ?? '';
        const end = [...graph.descendants([start])].at(-1) ?? start;
        const closed = nodes.map((each) =>
          each.id === start ? { ...each, needs: [...each.needs, end] } : each,
        );
        const error = refusal(closed);
        expect(error.message).toContain('is part of a cycle');
        expectCycle(error.message, closed);
      }),
    );
  });
});

/** The cycle in the message must exist. */
function expectCycle(message: string, nodes: readonly GraphNode[]): void {
  const path = message.slice(message.indexOf('cycle: ') + 7).split(' needs ');
  expect(path.at(0)).toBe(path.at(-1));
  path.slice(1).forEach((need, index) => {
    expect(nodes.find((each) => each.id === path[index])?.needs).toContain(need);
  });
}

describe('order', () => {
  test.each<[string, readonly GraphNode[], string]>([
    ['declaration order where it is possible', [node('c'), node('a'), node('b', 'c')], 'c a b'],
    [
      'needs first, then the first declared',
      [node('z', 'y'), node('y'), node('x'), node('w', 'z')],
      'y z x w',
    ],
    ['nothing', [], ''],
  ])('is %s', (_what, nodes, order) => {
    expect(buildGraph(nodes).order.join(' ')).toBe(order);
  });

  test('has every step once, after its needs, in the order of declaration otherwise', () => {
    fc.assert(
      fc.property(acyclicNodes(), (nodes) => {
        const placed = new Set<string>();
        for (const id of buildGraph(nodes).order) {
          const possible = nodes.filter(
            (each) => !placed.has(each.id) && each.needs.every((need) => placed.has(need)),
          );
          expect(id).toBe(possible[0]?.id);
          placed.add(id);
        }
        expect(placed.size).toBe(nodes.length);
      }),
    );
  });

  test('does not depend on the order or repetition of needs, or on a step added at the end', () => {
    fc.assert(
      fc.property(acyclicNodes(), (nodes) => {
        const order = buildGraph(nodes).order;
        const same = nodes.map((each) => ({ ...each, needs: [...each.needs, ...each.needs].reverse() }));
        expect(buildGraph(same).order).toEqual(order);
        const more = [...nodes, node('added', ...nodes.map((each) => each.id))];
        expect(buildGraph(more).order).toEqual([...order, 'added']);
      }),
    );
  });
});

describe('relations', () => {
  const diamond = buildGraph([node('d', 'b', 'c'), node('c', 'a'), node('b', 'a'), node('a'), node('e')]);

  test('dependents are the direct ones, in order', () => {
    expect(diamond.order).toEqual(['a', 'c', 'b', 'd', 'e']);
    expect(diamond.dependents('a')).toEqual(['c', 'b']);
    expect(diamond.dependents('e')).toEqual([]);
    expect(diamond.positionOf('b')).toBe(2);
  });

  test('dependents have the order of the graph where it differs from the order of declaration', () => {
    const graph = buildGraph([node('z', 'a', 'y'), node('y', 'a'), node('a')]);
    expect(graph.order).toEqual(['a', 'y', 'z']);
    expect(graph.dependents('a')).toEqual(['y', 'z']);
  });

  test('descendants exclude the starting steps, unless one follows another', () => {
    expect([...diamond.descendants(['a'])]).toEqual(['c', 'b', 'd']);
    expect([...diamond.descendants(['b', 'd'])]).toEqual(['d']);
    expect([...diamond.descendants([])]).toEqual([]);
  });

  test('descendants are exactly the steps with a path of needs to a start', () => {
    fc.assert(
      fc.property(acyclicNodes(), fc.nat(), (nodes, pick) => {
        const graph = buildGraph(nodes);
        const start = nodes[pick % nodes.length]?.id ?? '';
        const leadsBack = (id: string): boolean =>
          graph.node(id).needs.some((need) => need === start || leadsBack(need));
        expect([...graph.descendants([start])]).toEqual(graph.order.filter(leadsBack));
      }),
    );
  });

  test('asking for a step that does not exist is an error', () => {
    expect(diamond.has('x')).toBe(false);
    for (const ask of [
      () => diamond.node('x'),
      () => diamond.dependents('x'),
      () => diamond.positionOf('x'),
    ]) {
      expect(ask).toThrow(RangeError);
    }
    expect(() => diamond.descendants(['x'])).toThrow('no step "x"');
  });
});
