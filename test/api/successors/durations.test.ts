/** A reused step shows the duration of the original step, wherever its duration is shown. */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { Fatal } from '../../../packages/cairn/src/core/errors.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { PLAIN } from '../../../packages/cli/src/render/style.ts';
import { stepTable } from '../../../packages/cli/src/views/run-page.ts';
import { stepView } from '../../../packages/console/src/pages/run/graph/step-view.ts';
import type { RunEvent, RunGraph } from '../../../packages/console/src/pages/run/live/events.ts';
import { foldGraph, graphState } from '../../../packages/console/src/pages/run/live/fold-graph.ts';
import { StepHistories } from '../../../packages/console/src/pages/run/live/step-history.ts';
import { Installation } from '../installation.ts';

/** Long enough to be distinguished from the time of the reuse, and from rounding. */
const TOOK_MS = 42_000;

type Step = Parameters<typeof stepTable>[0][number];

let read: (path: string) => Promise<Record<string, unknown>>;

/** A resume, and a resume of that one, which reuses what the first had reused. */
beforeAll(async () => {
  let resumes = 0;
  const flaky = defineWorkflow({
    type: 'flaky',
    planVersion: 1,
    input: z.object({}),
    steps(step) {
      const slow = step(
        'slow',
        () => new Promise<number>((done) => world.clock.timer(TOOK_MS, () => done(1))),
      );
      const items = step.map('items', { over: () => [0, 1], retry: { maxAttempts: 1 } }, ({ item }) => {
        if (item === 1 && resumes < 2) throw new Fatal('not yet');
        return new Promise<number>((done) => world.clock.timer(item === 0 ? TOOK_MS : 0, () => done(item)));
      });
      const last = step('last', { needs: { slow, items } }, () => 2);
      return { last };
    },
  });
  const installation = new Installation([flaky]);
  const { world } = installation;
  const key = await installation.key('ann', { roles: ['operator'] });
  const headers = { authorization: `Bearer ${key}` };
  const started = await installation.post(key, { type: 'flaky', input: {} });
  let { runId } = (await started.json()) as { runId: string };
  await world.run();
  for (resumes = 1; resumes <= 2; resumes += 1) {
    const resumed = await installation.api.request(`/v1/runs/${runId}/resume`, { method: 'POST', headers });
    ({ runId } = (await resumed.json()) as { runId: string });
    await world.run();
  }
  expect(world.stateOf(runId).status).toBe('completed');
  read = async (path) => {
    const answer = await installation.api.request(`/v1/runs/${runId}${path}`, { headers });
    return (await answer.json()) as Record<string, unknown>;
  };
});

describe('the duration of a reused step', () => {
  test('is shown in the steps of the API, and in the command line', async () => {
    const { items } = (await read('/steps')) as { items: Step[] };
    const took = Object.fromEntries(items.map(({ id, durationMs }) => [id, durationMs]));
    expect(took).toMatchObject({ slow: TOOK_MS, 'items[0]': TOOK_MS });
    const lines = stepTable(items, { style: PLAIN, columns: undefined }).split('\n');
    const lineOf = (id: string) => lines.find((line) => line.trim().startsWith(`${id} `));
    for (const id of ['slow', 'items[0]']) expect(lineOf(id)).toContain(' 42 s');
    expect(lineOf('last')).not.toContain('42 s');
  });

  test('is shown in the graph of the API, on request', async () => {
    const tookOf = async (query: string) => {
      const { steps } = (await read(`/graph${query}`)) as { steps: { key: string; durationMs?: number }[] };
      return Object.fromEntries(steps.map(({ key, durationMs }) => [key, durationMs]));
    };
    expect(await tookOf('?durations=true')).toMatchObject({ slow: TOOK_MS, 'items[0]': TOOK_MS, last: 0 });
    expect(Object.values(await tookOf('')).filter((took) => took !== undefined)).toEqual([]);
    expect(await read('/graph?durations=yes')).toMatchObject({ code: 'INVALID_INPUT', field: 'durations' });
  });

  test('is shown in the checkpoints of the API', async () => {
    const { items } = (await read('/checkpoints')) as { items: { stepId?: string; durationMs?: number }[] };
    expect(items.find(({ stepId }) => stepId === 'slow')).toMatchObject({
      outcome: 'reused',
      durationMs: TOOK_MS,
    });
  });

  test('is shown in the graph and the row of the console', async () => {
    const graph = (await read('/graph')) as unknown as RunGraph;
    const { items: events } = (await read('/events?limit=100')) as unknown as { items: RunEvent[] };
    const histories = new StepHistories();
    histories.add(events);
    const { steps } = foldGraph(graphState(graph, false), events);
    const node = graph.nodes?.find(({ id }) => id === 'slow');
    if (!node) throw new Error('the graph has no such node');
    const view = stepView(node, { steps, histories: histories.byKey, items: new Map() });
    expect(view).toMatchObject({ status: 'reused', durationMs: TOOK_MS });
    expect(histories.byKey.get('items[0]')?.durationMs).toBe(TOOK_MS);
  });
});
