import { beforeEach, describe, expect, test } from '@jest/globals';
import { createApi } from '../../../packages/cairn/src/api/app.ts';
import { RUN_STATUSES } from '../../../packages/cairn/src/core/run/status.ts';
import {
  COUNTS_KEPT_MS,
  CountedRuns,
  MAX_COUNTED,
} from '../../../packages/cairn/src/operations/search/run-counts.ts';
import type { RunFilter } from '../../../packages/cairn/src/ports/run-store.ts';
import { Installation } from '../installation.ts';

const NONE = Object.fromEntries(RUN_STATUSES.map((status) => [status, 0]));

describe('GET /v1/runs/counts', () => {
  let installation: Installation;
  let key: string;
  beforeEach(async () => {
    installation = new Installation();
    key = await installation.key('viewer', { roles: ['viewer'] });
  });

  const counts = async (query = '', api = installation.api) => {
    const headers = { authorization: `Bearer ${key}` };
    const answer = await api.request(`/v1/runs/counts${query}`, { headers });
    return { status: answer.status, body: (await answer.json()) as unknown };
  };
  const start = (text: string, threadId: string, tenantId = 'acme') =>
    installation.world.start('echo', { text }, { tenantId, threadId });

  test('has every status, also those of no run', async () => {
    expect(await counts()).toEqual({ status: 200, body: { counts: NONE, isCut: false } });
  });

  test('counts the runs of the caller’s tenant that match the filter', async () => {
    await start('a', 'one');
    await installation.world.run();
    await start('b', 'one');
    await start('c', 'two');
    await start('d', 'one', 'others');
    const body = (some: object) => ({ status: 200, body: { counts: { ...NONE, ...some }, isCut: false } });
    expect(await counts()).toEqual(body({ completed: 1, pending: 2 }));
    expect(await counts('?threadId=one')).toEqual(body({ completed: 1, pending: 1 }));
    expect(await counts('?threadId=one&type=echo')).toEqual(body({ completed: 1, pending: 1 }));
    expect(await counts('?type=other')).toEqual(body({}));
  });

  test.each(['?status=failed', '?limit=1', '?type='])('refuses %s', async (query) => {
    expect(await counts(query)).toMatchObject({ status: 400, body: { code: 'INVALID_INPUT' } });
  });

  test('is not mistaken for a run with the id “counts”, and allows no other method', async () => {
    const answer = await installation.api.request('/v1/runs/counts', {
      method: 'POST',
      headers: { authorization: `Bearer ${key}` },
    });
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  });

  test('counts the same filter once in two seconds for all callers, and another filter anew', async () => {
    const requests: RunFilter[] = [];
    const finder = {
      ...installation.apiDeps.finder,
      count: async (filter: RunFilter) => {
        requests.push(filter);
        return 1;
      },
    };
    const api = createApi({ ...installation.apiDeps, finder } as typeof installation.apiDeps);
    await Promise.all([counts('', api), counts('', api)]);
    await counts('', api);
    expect(requests).toHaveLength(RUN_STATUSES.length);
    await counts('?type=echo', api);
    expect(requests).toHaveLength(2 * RUN_STATUSES.length);
    installation.world.clock.jump(COUNTS_KEPT_MS);
    await counts('', api);
    expect(requests).toHaveLength(3 * RUN_STATUSES.length);
  });
});

describe('cached counts', () => {
  const tenantId = 'acme';
  const clock = { now: () => 0 };

  test('are marked when there are more than are counted', async () => {
    const mosts: number[] = [];
    const counted = new CountedRuns(
      {
        count: async ({ status }, most) => {
          mosts.push(most);
          return status === 'completed' ? most : 3;
        },
      },
      clock,
    );
    expect(await counted.count({ tenantId })).toMatchObject({
      counts: { completed: MAX_COUNTED, failed: 3 },
      isCut: true,
    });
    expect(new Set(mosts)).toEqual(new Set([MAX_COUNTED]));
  });

  test('are not kept after a failure: the next caller counts again', async () => {
    let fails = true;
    const finder = {
      count: async () => {
        if (fails) throw new Error('lost');
        return 2;
      },
    };
    const counted = new CountedRuns(finder, clock);
    await expect(counted.count({ tenantId })).rejects.toThrow('lost');
    fails = false;
    expect((await counted.count({ tenantId })).counts.running).toBe(2);
  });

  test('are kept for a limited number of filters, and separately for each tenant', async () => {
    let counts = 0;
    const finder = {
      count: async () => {
        counts += 1;
        return counts;
      },
    };
    const counted = new CountedRuns(finder, clock);
    const first = await counted.count({ tenantId });
    const other = await counted.count({ tenantId: 'others' });
    expect(other.counts).not.toEqual(first.counts);
    for (let i = 0; i < 600; i += 1) await counted.count({ tenantId, type: `t${i}` });
    const before = counts;
    await counted.count({ tenantId, type: 't599' });
    expect(counts).toBe(before);
    await counted.count({ tenantId });
    expect(counts).toBe(before + RUN_STATUSES.length);
  });
});
