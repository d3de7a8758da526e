import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createApi } from '../../../packages/cairn/src/api/app.ts';
import { CALLERS_KEPT, RateLimiter } from '../../../packages/cairn/src/api/rate-limit.ts';
import { Installation } from '../installation.ts';

function clockAt(start: number) {
  let at = start;
  return {
    now: () => at,
    pass: (ms: number) => {
      at += ms;
    },
  };
}

function passes(limiter: RateLimiter, principal = 'c.dev'): boolean {
  try {
    limiter.pass(principal);
    return true;
  } catch {
    return false;
  }
}

describe('a caller', () => {
  test('may send a burst, then the steady rate, and is told when to retry', async () => {
    const installation = new Installation();
    const { clock } = installation.world;
    const api = createApi({ ...installation.apiDeps, rateLimit: { perSecond: 0.5, burst: 3 } });
    const [dev, other] = [await installation.key('dev'), await installation.key('other')];
    const get = (key: string) => api.request('/v1/runs', { headers: { authorization: `Bearer ${key}` } });
    const burst = await Promise.all([get(dev), get(dev), get(dev), get(dev)]);
    expect(burst.map(({ status }) => status)).toEqual([200, 200, 200, 429]);
    const refused = await get(dev);
    expect(refused.headers.get('retry-after')).toBe('2');
    expect(await refused.json()).toMatchObject({ code: 'RATE_LIMITED', details: { retryAfterSeconds: 2 } });
    expect((await get(other)).status).toBe(200);
    clock.jump(1_999);
    expect((await get(dev)).status).toBe(429);
    clock.jump(1);
    expect((await get(dev)).status).toBe(200);
    expect((await get(dev)).status).toBe(429);
  });

  test('that is refused leaves nothing behind, and can use its idempotency key again', async () => {
    const installation = new Installation();
    const api = createApi({ ...installation.apiDeps, rateLimit: { perSecond: 1, burst: 1 } });
    const authorization = `Bearer ${await installation.key('dev')}`;
    const start = () =>
      api.request('/v1/runs', {
        method: 'POST',
        body: JSON.stringify({ type: 'echo', input: { text: 'x' } }),
        headers: { authorization, 'content-type': 'application/json', 'idempotency-key': 'k' },
      });
    await api.request('/v1/runs', { headers: { authorization } });
    expect((await start()).status).toBe(429);
    expect(installation.written()).toBe(0);
    installation.world.clock.jump(1_000);
    expect((await start()).status).toBe(201);
  });

  test("with a wrong key uses nothing of the owner's limit; health is always answered", async () => {
    const installation = new Installation();
    const api = createApi({ ...installation.apiDeps, rateLimit: { perSecond: 1, burst: 1 } });
    const key = await installation.key('dev');
    const get = async (path: string, sent: string) =>
      (await api.request(path, { headers: { authorization: `Bearer ${sent}` } })).status;
    expect(await get('/v1/runs', `${key}x`)).toBe(401);
    expect(await get('/v1/runs', key)).toBe(200);
    expect(await get('/v1/runs', key)).toBe(429);
    expect(await get('/v1/healthz', key)).toBe(200);
  });
});

test('no interval admits more than the burst and the rate allow, and waiting for Retry-After suffices', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 50 }),
      fc.integer({ min: 1, max: 20 }),
      fc.array(fc.integer({ min: 0, max: 2_000 }), { maxLength: 200 }),
      (perSecond, burst, gaps) => {
        const clock = clockAt(1_000);
        const limiter = new RateLimiter({ perSecond, burst }, clock);
        let passed = 0;
        let total = 0;
        for (const gap of gaps) {
          clock.pass(gap);
          total += gap;
          if (passes(limiter)) passed += 1;
          expect(passed).toBeLessThanOrEqual(burst + (total * perSecond) / 1_000 + 1e-6);
        }
        while (passes(limiter)) passed += 1;
        clock.pass(1_000);
        expect(passes(limiter)).toBe(true);
      },
    ),
  );
});

test('a clock that is set back changes no limit', () => {
  const clock = clockAt(1_000_000);
  const limiter = new RateLimiter({ perSecond: 1, burst: 2 }, clock);
  expect([passes(limiter), passes(limiter), passes(limiter)]).toEqual([true, true, false]);
  clock.pass(-500_000);
  expect(passes(limiter)).toBe(false);
  clock.pass(1_000);
  expect(passes(limiter)).toBe(true);
});

test('callers beyond the cache size evict the least recent one, and no other', () => {
  const limiter = new RateLimiter({ perSecond: 1, burst: 1 }, clockAt(0));
  passes(limiter, 'first');
  passes(limiter, 'second');
  for (let n = 0; n < CALLERS_KEPT - 1; n += 1) passes(limiter, `c.${n}`);
  expect(passes(limiter, 'second')).toBe(false);
  expect(passes(limiter, 'first')).toBe(true);
});
