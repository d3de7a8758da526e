import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createApi } from '../../../packages/cairn/src/api/app.ts';
import {
  MIN_SHARE,
  NEIGHBOUR_MS,
  shareOf,
  TenantShares,
} from '../../../packages/cairn/src/api/tenant-shares.ts';
import { intercept } from '../../support/intercept.ts';
import { Installation } from '../installation.ts';

const MAX_TURNS = 10_000;

/** An API where starts of one tenant stay in progress until they are released. */
class Flooded {
  readonly installation = new Installation();
  readonly #gate = Promise.withResolvers<void>();
  readonly api;

  constructor(concurrency: number) {
    const { apiDeps } = this.installation;
    const store = intercept(apiDeps.store, async ({ method, args }, proceed) => {
      if (method === 'start' && JSON.stringify(args).includes('"flood"')) await this.#gate.promise;
      return proceed();
    });
    this.api = createApi({ ...apiDeps, store, concurrency });
  }

  letGo(): void {
    this.#gate.resolve();
  }

  key(name: string, tenantId: string): Promise<string> {
    return this.installation.key(name, { tenantId });
  }

  async start(key: string): Promise<Response> {
    return this.api.request('/v1/runs', {
      method: 'POST',
      body: JSON.stringify({ type: 'echo', input: { text: 'x' } }),
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    });
  }
}

describe('a tenant that floods an instance', () => {
  test('is refused beyond its share under any key, while other tenants are answered; then it continues', async () => {
    const flooded = new Flooded(40);
    const share = shareOf(40, 1);
    const keys = [await flooded.key('one', 'flood'), await flooded.key('two', 'flood')];
    const neighbour = await flooded.key('neighbour', 'acme');
    expect((await flooded.start(neighbour)).status).toBe(201);
    const before = flooded.installation.written();
    const started: Promise<Response>[] = [];
    const answered: Response[] = [];
    for (let n = 0; n < 60; n += 1) {
      const work = flooded.start(keys[n % 2] ?? '');
      started.push(work);
      void work.then((response) => answered.push(response));
    }
    // Requests beyond the share are answered while the others are in progress.
    await untilTrue(() => answered.length >= 60 - share);
    expect(new Set(answered.map(({ status }) => status))).toEqual(new Set([429]));
    expect(answered[0]?.headers.get('retry-after')).toBe('1');
    expect(await answered[0]?.json()).toMatchObject({ code: 'RATE_LIMITED' });
    expect(flooded.installation.written()).toBe(before);

    const others = await Promise.all(Array.from({ length: MIN_SHARE }, () => flooded.start(neighbour)));
    expect(others.map(({ status }) => status)).toEqual(others.map(() => 201));

    flooded.letGo();
    const statuses = (await Promise.all(started)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 201)).toHaveLength(share);
    expect((await flooded.start(keys[0] ?? '')).status).toBe(201);
  });

  test('is never refused without a limit', async () => {
    const { api, key } = await unbounded();
    const works = Array.from({ length: 100 }, () =>
      api.request('/v1/me', { headers: { authorization: `Bearer ${key}` } }),
    );
    expect((await Promise.all(works)).filter(({ status }) => status !== 200)).toEqual([]);
  });
});

test('tenants never occupy more than three quarters of the places, except for the minimum share of each', () => {
  fc.assert(
    fc.property(fc.integer({ min: 40, max: 80 }), fc.integer({ min: 1, max: 100 }), (places, tenants) => {
      const share = shareOf(places, tenants);
      expect(share).toBeGreaterThanOrEqual(MIN_SHARE);
      if (share > MIN_SHARE) expect(share * tenants).toBeLessThanOrEqual(places * 0.75);
    }),
  );
});

test('a lone tenant has all places, until another one comes and for a minute after it left', async () => {
  let now = 0;
  const shares = new TenantShares({ ofAll: 16, openStreams: () => 0 }, { now: () => now });
  const open = Promise.withResolvers<void>();
  const hold = (tenantId: string, count: number) =>
    Array.from({ length: count }, () => shares.pass(tenantId, () => open.promise));
  const held = hold('acme', 16);
  await expect(shares.pass('acme', async () => {})).rejects.toMatchObject({ code: 'RATE_LIMITED' });
  const neighbours = hold('other', MIN_SHARE);
  open.resolve();
  await Promise.all([...held, ...neighbours]);

  const again = Promise.withResolvers<void>();
  const shared = Array.from({ length: shareOf(16, 1) }, () => shares.pass('acme', () => again.promise));
  now = NEIGHBOUR_MS - 1;
  await expect(shares.pass('acme', async () => {})).rejects.toMatchObject({ code: 'RATE_LIMITED' });
  now = NEIGHBOUR_MS;
  await expect(shares.pass('acme', async () => 'passed')).resolves.toBe('passed');
  again.resolve();
  await Promise.all(shared);
});

test('failed work releases its place, and open streams reduce the shares', async () => {
  let streams = 0;
  const shares = new TenantShares({ ofAll: 16, openStreams: () => streams }, { now: () => 0 });
  await shares.pass('neighbour', async () => {});
  const fail = () => shares.pass('acme', () => Promise.reject(new Error('no')));
  for (let n = 0; n < 50; n += 1) await expect(fail()).rejects.toThrow('no');
  const open = Promise.withResolvers<void>();
  const held = Array.from({ length: 12 }, () => shares.pass('acme', () => open.promise));
  await expect(shares.pass('acme', async () => {})).rejects.toMatchObject({ code: 'RATE_LIMITED' });
  open.resolve();
  await Promise.all(held);
  streams = 8;
  const again = Promise.withResolvers<void>();
  const fewer = Array.from({ length: MIN_SHARE }, () => shares.pass('acme', () => again.promise));
  await expect(shares.pass('acme', async () => {})).rejects.toMatchObject({ code: 'RATE_LIMITED' });
  again.resolve();
  await Promise.all(fewer);
});

async function unbounded() {
  const installation = new Installation();
  return { api: installation.api, key: await installation.key('dev') };
}

/** The code does not wait for a clock, so turns of the event loop suffice. */
async function untilTrue(holds: () => boolean): Promise<void> {
  for (let turn = 0; turn < MAX_TURNS; turn += 1) {
    if (holds()) return;
    await new Promise((resolve) => setImmediate(resolve));
  }
  throw new Error(`it does not hold after ${MAX_TURNS} turns`);
}
