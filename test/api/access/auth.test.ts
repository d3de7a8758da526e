import { describe, expect, test } from '@jest/globals';
import { createApi } from '../../../packages/cairn/src/api/app.ts';
import { CLIENT_MISS_TTL_MS, CLIENT_TTL_MS } from '../../../packages/cairn/src/api/auth.ts';
import type { ClientStore } from '../../../packages/cairn/src/ports/access/client-store.ts';
import { Installation } from '../installation.ts';

const START = { type: 'echo', input: { text: 'hello' } };

describe('an invalid key', () => {
  test.each([
    ['none', undefined],
    ['empty', ''],
    ['another scheme', 'Basic cairn_dev_abcdefghijklmnopqrstuvwxyz012345'],
    ['no key of ours', 'Bearer eyJhbGciOiJIUzI1NiJ9.e30.x'],
    ['an unknown client', 'Bearer cairn_nobody_abcdefghijklmnopqrstuvwxyz012345'],
    ['a wrong secret', 'Bearer cairn_dev_bbcdefghijklmnopqrstuvwxyz012345'],
    ['a truncated secret', 'Bearer cairn_dev_abcdefghijklmnopqrstuvwxyz01234'],
    ['a client id that is a path', 'Bearer cairn_../dev_abcdefghijklmnopqrstuvwxyz012345'],
    ['two keys', 'Bearer cairn_dev_abcdefghijklmnopqrstuvwxyz012345, Bearer x'],
  ])('(%s) is answered 401 without a reason', async (_what, authorization) => {
    const installation = new Installation();
    await installation.key('dev', { roles: ['admin'] });
    const headers: Record<string, string> = authorization === undefined ? {} : { authorization };
    const answer = await installation.api.request('/v1/runs', { headers });
    expect(answer.status).toBe(401);
    expect(answer.headers.get('www-authenticate')).toBe('Bearer');
    expect(answer.headers.get('content-type')).toBe('application/problem+json');
    expect(await answer.json()).toMatchObject({
      code: 'UNAUTHENTICATED',
      detail: 'the API key or ID token is missing or invalid',
    });
  });

  test('of a disabled client is answered 401', async () => {
    const installation = new Installation();
    const key = await installation.key('dev', { disabled: true });
    expect((await installation.get('/v1/runs', key)).status).toBe(401);
  });

  test('of a client without a role is answered 401', async () => {
    const installation = new Installation();
    const key = await installation.key('dev', { roles: [] });
    expect((await installation.get('/v1/runs', key)).status).toBe(401);
  });

  test('is refused before anything else of the request is read', async () => {
    const installation = new Installation();
    const headers = { 'content-length': '999999999', 'content-type': 'text/plain' };
    const answer = await installation.api.request('/v1/runs?nonsense=1', {
      method: 'POST',
      body: 'x',
      headers,
    });
    expect(answer.status).toBe(401);
  });
});

describe('roles', () => {
  test.each([
    ['viewer', 403],
    ['submitter', 201],
    ['operator', 201],
    ['admin', 201],
  ] as const)('a %s who starts a run is answered %i, and may read runs', async (role, status) => {
    const installation = new Installation();
    const key = await installation.key('dev', { roles: [role] });
    const answer = await installation.post(key, START);
    expect(answer.status).toBe(status);
    if (status === 403) {
      expect(await answer.json()).toMatchObject({ code: 'FORBIDDEN' });
      expect(installation.written()).toBe(0);
    }
    expect((await installation.get('/v1/runs', key)).status).toBe(200);
  });

  test('the highest of several roles counts, in any order', async () => {
    const installation = new Installation();
    const key = await installation.key('dev', { roles: ['submitter', 'viewer'] });
    expect((await installation.post(key, START)).status).toBe(201);
  });
});

describe('cached clients', () => {
  function counted() {
    const installation = new Installation();
    const reads: string[] = [];
    let failing = false;
    const clients: ClientStore = {
      read(id) {
        reads.push(id);
        return failing ? Promise.reject(new Error('no store')) : installation.clients.read(id);
      },
    };
    const api = createApi({ ...installation.apiDeps, clients });
    const get = async (key: string) =>
      (await api.request('/v1/runs', { headers: { authorization: `Bearer ${key}` } })).status;
    return { installation, reads, get, fail: (yes: boolean) => (failing = yes) };
  }

  test('are read once until they expire, also by concurrent requests', async () => {
    const { installation, reads, get } = counted();
    const key = await installation.key('dev');
    expect(await Promise.all([get(key), get(key), get(key)])).toEqual([200, 200, 200]);
    expect(reads).toEqual(['dev']);
    installation.world.clock.jump(CLIENT_TTL_MS - 1);
    await get(key);
    expect(reads).toHaveLength(1);
    installation.world.clock.jump(1);
    await get(key);
    expect(reads).toHaveLength(2);
  });

  test('that are disabled are refused once they expire', async () => {
    const { installation, get } = counted();
    const key = await installation.key('dev');
    expect(await get(key)).toBe(200);
    await installation.key('dev', { disabled: true });
    installation.world.clock.jump(CLIENT_TTL_MS);
    expect(await get(key)).toBe(401);
  });

  test('that do not exist cost one read until they expire, however often they are asked for', async () => {
    const { installation, get, reads } = counted();
    const key = 'cairn_late_abcdefghijklmnopqrstuvwxyz012345';
    const responses = await Promise.all(Array.from({ length: 50 }, () => get(key)));
    expect(new Set(responses)).toEqual(new Set([401]));
    for (let i = 0; i < 50; i++) expect(await get(`cairn_late_${'x'.repeat(32)}${i}`)).toBe(401);
    expect(reads).toHaveLength(1);
    installation.world.clock.jump(CLIENT_MISS_TTL_MS);
    expect(await get(key)).toBe(401);
    expect(reads).toHaveLength(2);
  });

  test('that are created work at once, earlier misses after they expire', async () => {
    const { installation, get } = counted();
    const key = 'cairn_late_abcdefghijklmnopqrstuvwxyz012345';
    expect(await get(key)).toBe(401);
    const late = await installation.key('late');
    expect(await get(await installation.key('new'))).toBe(200);
    expect(await get(late)).toBe(401);
    installation.world.clock.jump(CLIENT_MISS_TTL_MS);
    expect(await get(late)).toBe(200);
  });

  test('that do not exist neither evict others nor fill the cache', async () => {
    const { installation, get, reads } = counted();
    const key = await installation.key('dev');
    expect(await get(key)).toBe(200);
    for (let i = 0; i < 1_100; i++) await get(`cairn_nobody-${i}_abcdefghijklmnopqrstuvwxyz012345`);
    reads.length = 0;
    expect(await get(key)).toBe(200);
    expect(reads).toHaveLength(0);
    expect(await get('cairn_nobody-0_abcdefghijklmnopqrstuvwxyz012345')).toBe(401);
    expect(reads).toHaveLength(1);
  });

  test('are not cached after a failure: the next request reads again', async () => {
    const { installation, get, fail } = counted();
    const key = await installation.key('dev');
    fail(true);
    expect(await get(key)).toBe(500);
    fail(false);
    expect(await get(key)).toBe(200);
  });
});
