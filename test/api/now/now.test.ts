import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { pause } from '../../../packages/cairn/src/ports/clock.ts';
import { Installation } from '../installation.ts';

type Body = Record<string, unknown> & { items: Record<string, unknown>[]; next?: string };
type Node = Record<string, unknown> & { key: string };

/** A slow map step and a slow step, beside a question if requested. */
async function started({ asks = false, items = 3 } = {}) {
  let installation: Installation | undefined;
  const sleep = (ms: number) => (installation ? pause(installation.world.clock, ms) : Promise.resolve());
  const busy = defineWorkflow({
    type: 'busy',
    planVersion: 1,
    input: z.object({}),
    steps(step) {
      const first = step('b-first', () => 1);
      const all = step.map('all', { over: () => [...Array(items).keys()], concurrency: items }, () =>
        sleep(9_000),
      );
      const slow = step('slow', { needs: { first } }, () => sleep(30_000));
      const gate = asks ? step.approval('gate', { ask: () => 'May it go on?' }) : first;
      return { all, slow, gate };
    },
  });
  installation = new Installation([busy]);
  const { world } = installation;
  const key = await installation.key('dev', { roles: ['admin'] });
  const answer = await installation.post(key, { type: 'busy', input: {} });
  const { runId } = (await answer.json()) as { runId: string };
  const begun = world.clock.now();
  const at = async (ms: number) => {
    world.clock.timer(begun + ms - world.clock.now(), () => {});
    await world.run(() => world.clock.now() >= begun + ms);
  };
  const made = installation;
  const read = async (path: string): Promise<Body> => (await (await made.get(path, key)).json()) as Body;
  const ask = (path: string, body: unknown) =>
    made.api.request(path, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  return { world, runId, at, read, ask, begun };
}

describe('while bodies run', () => {
  test('the run, lists of runs, its steps and its graph name them, with attempt and start', async () => {
    const { runId, at, read, begun } = await started();
    await at(2_500);
    const since = new Date(begun).toISOString();
    const run = await read(`/v1/runs/${runId}`);
    expect(run).toMatchObject({
      status: 'running',
      currentStep: 'all[0]',
      running: [
        { step: 'all[0]', revision: 1, attempt: 1, since },
        { step: 'all[1]' },
        { step: 'all[2]' },
        { step: 'slow', attempt: 1 },
        { step: 'all' },
      ],
      runningCount: 5,
    });
    const [listed] = (await read('/v1/runs')).items;
    expect(listed).toMatchObject({ currentStep: 'all[0]', runningCount: 4 });
    expect(listed?.running).toHaveLength(3);
    const { items } = await read(`/v1/runs/${runId}/steps`);
    expect(items.map(({ id, status, attempts }) => [id, status, attempts])).toEqual([
      ['all', 'running', 1],
      ['all[0]', 'running', 1],
      ['all[1]', 'running', 1],
      ['all[2]', 'running', 1],
      ['b-first', 'succeeded', 1],
      ['slow', 'running', 1],
    ]);
    const graph = (await read(`/v1/runs/${runId}/graph`)) as unknown as { steps: Node[]; head: number };
    expect(graph.steps.find((node) => node.key === 'slow')).toMatchObject({
      phase: 'running',
      attempt: 1,
      startedAt: since,
      seq: graph.head,
    });
  });

  test('pages of the steps have each once, in order, within the page size', async () => {
    const { runId, at, read } = await started({ items: 12 });
    await at(2_500);
    for (const limit of [1, 2, 5]) {
      const ids: unknown[] = [];
      for (let cursor = ''; ; ) {
        const page = await read(`/v1/runs/${runId}/steps?limit=${limit}${cursor}`);
        expect(page.items.length).toBeLessThanOrEqual(limit);
        ids.push(...page.items.map(({ id }) => id));
        if (page.next === undefined) break;
        cursor = `&cursor=${page.next}`;
      }
      expect(ids).toHaveLength(15);
      expect(ids).toEqual([...new Set(ids)].toSorted((a, b) => (encode(a) < encode(b) ? -1 : 1)));
    }
  });

  test('ended bodies are no longer named, though the snapshot is older than their end', async () => {
    const { runId, at, read } = await started();
    await at(9_001);
    const { running } = (await read(`/v1/runs/${runId}`)) as unknown as { running: { step: string }[] };
    expect(running.map(({ step }) => step)).toEqual(['slow']);
    expect((await read(`/v1/runs/${runId}/steps`)).items.map(({ status }) => status)).toEqual([
      ...Array(5).fill('succeeded'),
      'running',
    ]);
  });
});

describe('a run that asks a person while other branches run', () => {
  test('shows the question at once, is found by both statuses, and is counted under both', async () => {
    const { runId, at, read } = await started({ asks: true });
    await at(100);
    expect(await read(`/v1/runs/${runId}`)).toMatchObject({
      status: 'running',
      waitsFor: 'awaiting_approval',
    });
    for (const query of [
      'status=awaiting_approval',
      'status=running',
      'status=waiting_for_human',
      'status=running&waitsFor=awaiting_approval',
    ])
      expect((await read(`/v1/runs?${query}`)).items).toMatchObject([{ id: runId, status: 'running' }]);
    for (const query of ['status=waiting_external', 'waitsFor=waiting_external', 'status=pending'])
      expect((await read(`/v1/runs?${query}`)).items).toEqual([]);
    for (const word of ['running', 'event'])
      expect(await read(`/v1/runs?waitsFor=${word}`)).toMatchObject({
        code: 'INVALID_INPUT',
        field: 'waitsFor',
      });
    expect(await read('/v1/runs?vocabulary=orca')).toMatchObject({
      items: [{ waitsFor: 'awaiting_approval' }],
    });
    expect(await read('/v1/runs/counts')).toMatchObject({ counts: { awaiting_approval: 1, running: 1 } });
  });

  test('refuses a resume with the name of the decision, accepts the decision at once, and waits no longer', async () => {
    const { world, runId, at, read, ask } = await started({ asks: true });
    await at(100);
    const refused = await ask(`/v1/runs/${runId}/resume`, {});
    expect(refused.status).toBe(409);
    expect(await refused.json()).toMatchObject({ code: 'RUN_INVALID_TRANSITION', stepId: 'gate' });
    expect((await ask(`/v1/runs/${runId}/approvals/gate`, { decision: 'approve' })).status).toBe(200);
    const answered = await read(`/v1/runs/${runId}`);
    expect(answered).toMatchObject({ status: 'running', waitCount: 0 });
    expect(answered).not.toHaveProperty('waitsFor');
    expect((await read('/v1/runs?status=awaiting_approval')).items).toEqual([]);
    await world.run();
    expect(await read(`/v1/runs/${runId}`)).toMatchObject({ status: 'completed', running: [] });
  });
});

function encode(id: unknown): string {
  return encodeURIComponent(String(id));
}
