import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { eventView } from '../../../packages/cairn/src/api/views/documents.ts';
import { readableValue } from '../../../packages/cairn/src/core/run/readable.ts';
import type { RunState } from '../../../packages/cairn/src/core/run/state.ts';
import type { RunEvent, RunGraph } from '../../../packages/console/src/pages/run/live/events.ts';
import { foldGraph, graphState } from '../../../packages/console/src/pages/run/live/fold-graph.ts';
import { type Grown, journals } from '../../core/run/random-journal.ts';

/** The graph in the form of `GET /v1/runs/{id}/graph`. */
function told(state: RunState): RunGraph {
  return {
    runId: state.id,
    type: state.type,
    planVersion: state.planVersion,
    status: state.status,
    head: state.head,
    steps: [...state.steps].map(([key, step]) => ({ key, ...(readableValue(step) as object) })),
  } as RunGraph;
}

const shown = ({ events }: Grown) => events.map((event) => eventView(event) as unknown as RunEvent);

describe('the graph folded from events', () => {
  test('equals that of the API after any journal, in any chunks', () => {
    fc.assert(
      fc.property(journals(), fc.nat(), fc.nat(), (grown, opened, cut) => {
        const events = shown(grown);
        const at = (of: number) => of % grown.states.length;
        const first = grown.states[at(opened)] as RunState;
        let state = graphState(told(first), first.replay === 'under_way');
        state = foldGraph(state, events.slice(0, at(cut)));
        state = foldGraph(state, events);
        const last = told(grown.states.at(-1) as RunState);
        expect([state.status, state.head]).toEqual([last.status, last.head]);
        expect(state.steps).toEqual(new Map(last.steps.map((step) => [step.key, step])));
      }),
      { numRuns: 300 },
    );
  });

  test('ignores event types newer than the page', () => {
    const state = graphState({
      runId: 'r',
      type: 't',
      planVersion: 1,
      status: 'running',
      head: 4,
      steps: [],
    });
    const event = { seq: 5, type: 'step_dreamt', at: '2026-01-01T00:00:00.000Z', data: { stepId: 's' } };
    expect(foldGraph(state, [event as unknown as RunEvent])).toEqual({ ...state, head: 5 });
  });
});
