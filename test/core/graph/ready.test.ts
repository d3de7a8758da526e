import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { buildGraph, type Graph, type GraphNode } from '../../../packages/cairn/src/core/graph/graph.ts';
import { type NodeState, ReadyTracker } from '../../../packages/cairn/src/core/graph/ready.ts';
import { acyclicNodes } from './random-graph.ts';
import { readySteps, skippableSteps } from './ready-by-definition.ts';

const node = (id: string, ...needs: string[]): GraphNode => ({ id, needs });
const STATES = ['pending', 'open', 'done', 'skipped', 'failed'] as const;

function stateFrom(states: Readonly<Record<string, NodeState>>): (id: string) => NodeState {
  return (id) => states[id] ?? 'pending';
}

describe('the ready steps', () => {
  const graph = buildGraph([
    node('a'),
    node('b', 'a'),
    node('c', 'a'),
    { ...node('d', 'b', 'c'), ifSkipped: 'run' },
    node('e', 'b', 'c'),
  ]);

  test.each<[string, Record<string, NodeState>, string, string]>([
    ['at the start, the steps without needs', {}, 'a', ''],
    ['nothing while the first is open', { a: 'open' }, '', ''],
    ['what needed only the first', { a: 'done' }, 'b c', ''],
    ['not what still waits for another', { a: 'done', b: 'done', c: 'open' }, '', ''],
    ['all that had their needs done', { a: 'done', b: 'done', c: 'done' }, 'd e', ''],
    [
      'after a skipped need, the step that runs nevertheless',
      { a: 'done', b: 'skipped', c: 'done' },
      'd',
      'e',
    ],
    ['a skip is passed on before the other needs end', { a: 'done', b: 'skipped', c: 'open' }, '', 'e'],
    ['a skip is passed on one step at a time', { a: 'skipped' }, '', 'b c'],
    ['nothing behind a failed step', { a: 'done', b: 'failed', c: 'done' }, '', ''],
  ])('%s', (_claim, states, ready, skippable) => {
    expect(readySteps(graph, stateFrom(states)).join(' ')).toBe(ready);
    expect(skippableSteps(graph, stateFrom(states)).join(' ')).toBe(skippable);
    const tracker = new ReadyTracker(graph, stateFrom(states));
    expect(tracker.ready().join(' ')).toBe(ready);
    expect(tracker.skippable().join(' ')).toBe(skippable);
  });
});

describe('the tracker', () => {
  const change = fc.record({ step: fc.nat(), state: fc.constantFrom(...STATES) });

  test('answers as the definition does, from any state and after any changes', () => {
    const first = fc.array(fc.constantFrom(...STATES), { minLength: 9, maxLength: 9 });
    fc.assert(
      fc.property(acyclicNodes(), first, fc.array(change, { maxLength: 30 }), (nodes, initial, changes) => {
        const graph = buildGraph(nodes);
        const states = new Map(graph.order.map((id, index) => [id, initial[index] ?? 'pending']));
        const stateOf = (id: string): NodeState => states.get(id) ?? 'pending';
        const tracker = new ReadyTracker(graph, stateOf);
        expectSame(tracker, graph, stateOf);
        for (const { step, state } of changes) {
          const id = graph.order[step % graph.order.length] ?? '';
          states.set(id, state);
          tracker.settle(id, state);
          expectSame(tracker, graph, stateOf);
        }
      }),
      { numRuns: 300 },
    );
  });

  test('copies its states: later changes of the original have no effect', () => {
    const graph = buildGraph([node('a'), node('b', 'a')]);
    let state: NodeState = 'pending';
    const tracker = new ReadyTracker(graph, () => state);
    state = 'done';
    expect(tracker.ready()).toEqual(['a']);
    expect(tracker.stateOf('a')).toBe('pending');
  });

  test('returns at most the requested number, in order', () => {
    const graph = buildGraph(['c', 'a', 'b'].map((id) => node(id)));
    expect(new ReadyTracker(graph, () => 'pending').ready(2)).toEqual(['c', 'a']);
    expect(new ReadyTracker(graph, () => 'pending').ready(0)).toEqual([]);
  });

  test('runs every step of a random graph once, each after its needs', () => {
    fc.assert(
      fc.property(acyclicNodes(), fc.infiniteStream(fc.nat()), (nodes, picks) => {
        const graph = buildGraph(nodes);
        const tracker = new ReadyTracker(graph, () => 'pending');
        const ran: string[] = [];
        for (let ready = tracker.ready(); ready.length > 0; ready = tracker.ready()) {
          const id = ready[picks.next().value % ready.length] ?? '';
          expect(ran).toEqual(expect.arrayContaining([...graph.node(id).needs]));
          ran.push(id);
          tracker.settle(id, 'open');
          tracker.settle(id, 'done');
        }
        expect(ran.toSorted()).toEqual(nodes.map(({ id }) => id).toSorted());
      }),
    );
  });

  test('a step costs work only for its dependents, in a chain of any length', () => {
    const steps = 5_000;
    const nodes = Array.from({ length: steps }, (_, n) =>
      n === 0 ? node('s0') : node(`s${n}`, `s${n - 1}`),
    );
    const { graph, asked } = counting(buildGraph(nodes));
    const tracker = new ReadyTracker(graph, () => 'pending');
    asked.dependents = 0;
    asked.node = 0;
    for (let ran = 0; ran < steps; ran += 1) {
      const [id] = tracker.ready(1);
      expect(id).toBe(`s${ran}`);
      tracker.settle(`s${ran}`, 'done');
    }
    expect(asked).toEqual({ dependents: steps, node: 0 });
  });

  test('a step that does not exist is an error', () => {
    const tracker = new ReadyTracker(buildGraph([node('a')]), () => 'pending');
    expect(() => tracker.settle('x', 'done')).toThrow('no step "x"');
    expect(() => tracker.stateOf('x')).toThrow(RangeError);
  });
});

function expectSame(tracker: ReadyTracker, graph: Graph, stateOf: (id: string) => NodeState): void {
  expect(tracker.ready()).toEqual(readySteps(graph, stateOf));
  expect(tracker.skippable()).toEqual(skippableSteps(graph, stateOf));
  for (const id of graph.order) expect(tracker.stateOf(id)).toBe(stateOf(id));
}

/** The same graph, counting how often it is asked about a step. */
function counting(graph: Graph): { graph: Graph; asked: { dependents: number; node: number } } {
  const asked = { dependents: 0, node: 0 };
  const counted: Graph = {
    order: graph.order,
    has: (id) => graph.has(id),
    positionOf: (id) => graph.positionOf(id),
    node: (id) => {
      asked.node += 1;
      return graph.node(id);
    },
    dependents: (id) => {
      asked.dependents += 1;
      return graph.dependents(id);
    },
    descendants: (ids) => graph.descendants(ids),
  };
  return { graph: counted, asked };
}
