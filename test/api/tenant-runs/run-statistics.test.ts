import { beforeEach, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import type { RunStatistics } from '../../../packages/cairn/src/api/openapi/schemas/tenant-runs.ts';
import { Fatal } from '../../../packages/cairn/src/core/errors.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import {
  MAX_PAGES_READ,
  MAX_RUNS_READ,
  readStatistics,
} from '../../../packages/cairn/src/operations/search/read-statistics.ts';
import type { ListedRun, PageRequest, RunFilter } from '../../../packages/cairn/src/ports/run-store.ts';
import { echo, Installation } from '../installation.ts';

const failing = defineWorkflow({
  type: 'failing',
  planVersion: 3,
  input: z.object({}),
  steps: (step) => ({
    paid: step('pay', () => {
      throw new Fatal('the card was refused');
    }),
  }),
});

describe('GET /v1/runs/statistics', () => {
  const tenantId = 'acme';
  let installation: Installation;
  let key: string;
  beforeEach(async () => {
    installation = new Installation([echo, failing]);
    key = await installation.key('viewer', { roles: ['viewer'] });
  });

  const ask = async (query = '') => {
    const answer = await installation.get(`/v1/runs/statistics${query}`, key);
    return { status: answer.status, body: (await answer.json()) as z.infer<typeof RunStatistics> };
  };

  test('covers the last day of the caller’s tenant, by version and by cause of failure', async () => {
    const { world } = installation;
    await world.start('echo', { text: 'a' }, { tenantId });
    const lost = await world.start('failing', {}, { tenantId });
    await world.start('echo', { text: 'of others' }, { tenantId: 'others' });
    await world.run();
    world.clock.jump(1);
    const { status, body } = await ask();
    expect([status, body.isCut, body.unreadable]).toEqual([200, false, 0]);
    expect(body.total).toMatchObject({ runs: 2, completed: 1, failed: 1, failureShare: 0.5 });
    expect(body.total.cost.usd).toBeGreaterThan(0);
    expect(body.versions.map(({ type, planVersion, failed }) => [type, planVersion, failed])).toEqual([
      ['echo', 1, 0],
      ['failing', 3, 1],
    ]);
    expect(body.causes).toMatchObject([
      { type: 'failing', step: 'pay', runs: 1, last: { runId: lost, message: 'the card was refused' } },
    ]);
    expect((await ask('?type=echo')).body).toMatchObject({ total: { runs: 1, failed: 0 }, causes: [] });
  });

  test('covers the requested time', async () => {
    const { world } = installation;
    const started = async (text: string) => {
      await world.start('echo', { text }, { tenantId });
      const at = new Date(world.clock.now()).toISOString();
      world.clock.jump(3_600_000);
      return at;
    };
    await started('before');
    const since = await started('in it');
    const until = await started('after');
    const { body } = await ask(`?since=${since}&until=${until}`);
    expect([body.from, body.until, body.total.runs]).toEqual([since, until, 1]);
    expect(body.parts.filter(({ runs }) => runs > 0).map(({ from }) => from)).toEqual([since]);
  });

  test.each([
    ['?since=yesterday', 'since'],
    ['?until=2025-02-29T00:00:00Z', 'until'],
    ['?since=2100-01-01T00:00:00Z', 'since'],
    ['?status=failed', 'status'],
    ['?limit=5', 'limit'],
  ])('refuses %s and names the parameter', async (query, field) => {
    expect(await ask(query)).toMatchObject({ status: 400, body: { code: 'INVALID_INPUT', field } });
  });
});

test('statistics are cut at the limit of runs, and their time begins with the oldest run read', async () => {
  const run = (n: number) =>
    ({
      state: { id: `run_${n}`, type: 'echo', planVersion: 1, status: 'completed', createdAt: 1_000_000 - n },
      metadata: {},
    }) as unknown as ListedRun;
  const requests: PageRequest[] = [];
  const store = {
    listRuns: async (_: RunFilter, page: PageRequest) => {
      requests.push(page);
      const first = Number(page.cursor ?? 0);
      const items = Array.from({ length: page.limit }, (_, n) => run(first + n));
      return { items, next: String(first + page.limit) };
    },
  };
  const read = await readStatistics(store, { tenantId: 'acme' }, { from: 0, until: 1_000_001 });
  expect(read).toMatchObject({
    isCut: true,
    from: 1_000_001 - MAX_RUNS_READ,
    total: { runs: MAX_RUNS_READ },
  });
  expect(requests.reduce((sum, { limit }) => sum + limit, 0)).toBe(MAX_RUNS_READ);
});

test('counts a run that is dispatched alone as a suspect, and a cleared one not', async () => {
  const run = (alone: boolean) =>
    ({
      state: {
        id: `run_${alone}`,
        type: 'echo',
        planVersion: 1,
        status: 'running',
        createdAt: 1,
        suspect: { alone },
      },
      metadata: {},
    }) as unknown as ListedRun;
  const store = { listRuns: async () => ({ items: [run(true), run(false)] }) };
  const { total } = await readStatistics(store, { tenantId: 'acme' }, { from: 0, until: 2 });
  expect([total.live, total.suspects]).toEqual([2, 1]);
});

test('pages of runs under erasure are read up to a limit, and the answer says that it is cut', async () => {
  let reads = 0;
  const store = {
    listRuns: async () => {
      reads += 1;
      if (reads > 1_000) throw new Error('it reads without a bound');
      return { items: [], next: String(reads) };
    },
  };
  const read = await readStatistics(store, { tenantId: 'acme' }, { from: 0, until: 1_000 });
  expect(read).toMatchObject({ isCut: true, total: { runs: 0 } });
  expect(reads).toBe(MAX_PAGES_READ);
});
