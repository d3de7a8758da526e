import { describe, expect, test } from '@jest/globals';
import { createApi } from '../../packages/cairn/src/api/app.ts';
import { settle } from '../support/virtual-clock.ts';
import { Installation } from './installation.ts';

describe('health', () => {
  test('needs no key, and has the version and the state of the store', async () => {
    const answer = await new Installation().api.request('/v1/healthz');
    expect(answer.status).toBe(200);
    expect(await answer.json()).toEqual({ status: 'ok', version: '1.2.3', store: 'ok' });
  });

  function withStore(read: () => Promise<undefined>) {
    const installation = new Installation();
    let reads = 0;
    const clients = {
      read: () => {
        reads += 1;
        return read();
      },
    };
    const api = createApi({ ...installation.apiDeps, clients });
    return { clock: installation.world.clock, api, reads: () => reads };
  }

  test('is answered 503 when the store fails', async () => {
    const { api } = withStore(() => Promise.reject(new Error('unreachable')));
    const answer = await api.request('/v1/healthz');
    expect(answer.status).toBe(503);
    expect(await answer.json()).toMatchObject({ status: 'degraded', store: 'unreachable' });
  });

  test('is answered 503 when the store stays silent', async () => {
    const { api, clock } = withStore(() => new Promise(() => {}));
    const response = api.request('/v1/healthz');
    await settle();
    clock.fireNext();
    expect((await response).status).toBe(503);
  });

  test('probes the store once for concurrent callers, and again a little later', async () => {
    const { api, clock, reads } = withStore(async () => undefined);
    await Promise.all(Array.from({ length: 50 }, () => api.request('/v1/healthz')));
    expect(reads()).toBe(1);
    clock.jump(60_000);
    await api.request('/v1/healthz');
    expect(reads()).toBe(2);
  });
});

test.each([
  ['/v1/runs', 'DELETE', 'GET, HEAD, POST'],
  ['/v1/runs/run_aaaaaaaaaaaaaaaaaaaaaaaaaa', 'PUT', 'GET, HEAD'],
  ['/v1/runs/run_aaaaaaaaaaaaaaaaaaaaaaaaaa/events', 'POST', 'GET, HEAD'],
  ['/v1/healthz', 'POST', 'GET, HEAD'],
])('%s does not allow %s, and lists its methods', async (path, method, allow) => {
  const installation = new Installation();
  const key = await installation.key('dev');
  const answer = await installation.api.request(path, {
    method,
    headers: { authorization: `Bearer ${key}` },
  });
  expect(answer.status).toBe(405);
  expect(answer.headers.get('allow')).toBe(allow);
  expect(answer.headers.get('content-type')).toBe('application/problem+json');
});

test.each(['/', '/v1', '/v1/', '/v1/nothing', '/v1/runs/', '/v1/runs/x/y', '/v2/runs'])(
  '%s is answered 404',
  async (path) => {
    const installation = new Installation();
    const answer = await installation.get(path, await installation.key('dev'));
    expect(answer.status).toBe(404);
    expect(answer.headers.get('content-type')).toBe('application/problem+json');
  },
);

test('HEAD is answered like GET, without a body', async () => {
  const installation = new Installation();
  const key = await installation.key('dev');
  const answer = await installation.api.request('/v1/runs', {
    method: 'HEAD',
    headers: { authorization: `Bearer ${key}` },
  });
  expect(answer.status).toBe(200);
  expect(await answer.text()).toBe('');
});

test('answers are not cached', async () => {
  const installation = new Installation();
  const answer = await installation.get('/v1/runs', await installation.key('dev'));
  expect(answer.headers.get('cache-control')).toBe('no-store');
});
