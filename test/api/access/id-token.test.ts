import { describe, expect, test } from '@jest/globals';
import { createApi } from '../../../packages/cairn/src/api/app.ts';
import { CairnError } from '../../../packages/cairn/src/core/errors.ts';
import type {
  TokenVerifier,
  VerifiedToken,
} from '../../../packages/cairn/src/ports/access/token-verifier.ts';
import { Installation } from '../installation.ts';

const START = JSON.stringify({ type: 'echo', input: { text: 'hello' } });
const TOKEN = 'aGVhZGVy.cGF5bG9hZA.c2lnbmF0dXJl';

/** An installation whose identity provider accepts one token. */
function signedIn(token: VerifiedToken | 'unavailable' | undefined) {
  const installation = new Installation();
  const asked: string[] = [];
  const tokens: TokenVerifier = {
    async verify(sent) {
      asked.push(sent);
      if (token === 'unavailable') throw new CairnError('UNAVAILABLE', 'no keys');
      return sent === TOKEN ? token : undefined;
    },
  };
  const api = createApi({ ...installation.apiDeps, tokens });
  const call = (path: string, init: { method?: string; body?: string; bearer?: string } = {}) =>
    api.request(path, {
      method: init.method ?? 'GET',
      ...(init.body === undefined ? {} : { body: init.body }),
      headers: {
        authorization: `Bearer ${init.bearer ?? TOKEN}`,
        'content-type': 'application/json',
        'idempotency-key': 'k',
      },
    });
  return { installation, call, asked };
}

const USER = { uid: 'anna', claims: { tenant: 'acme', role: 'submitter' } };

describe('a signed-in user', () => {
  test('acts for the tenant of the account, under a name that no client has', async () => {
    const { installation, call } = signedIn(USER);
    const answer = await call('/v1/runs', { method: 'POST', body: START });
    expect(answer.status).toBe(201);
    const { runId } = (await answer.json()) as { runId: string };
    expect(installation.world.db.runs.get(runId)?.snapshot).toMatchObject({
      tenantId: 'acme',
      trigger: { source: 'api', userId: 'u.anna' },
    });
    expect([...installation.world.db.records.keys()]).toEqual(['api:u.anna:k']);
    const namesake = await installation.key('anna');
    expect((await installation.get('/v1/idempotency/k', namesake)).status).toBe(404);
    expect((await call('/v1/idempotency/k')).status).toBe(200);
  });

  test.each([
    ['viewer', 403],
    ['submitter', 201],
    ['operator', 201],
    ['admin', 201],
  ])('as %s who starts a run is answered %i', async (role, status) => {
    const { call } = signedIn({ uid: 'anna', claims: { tenant: 'acme', role } });
    expect((await call('/v1/runs', { method: 'POST', body: START })).status).toBe(status);
  });

  test('gets the answer for a missing run when it asks for a run of another tenant', async () => {
    const { installation, call } = signedIn(USER);
    const key = await installation.key('rival', { tenantId: 'rival' });
    const { runId } = (await (await installation.post(key, START)).json()) as { runId: string };
    const theirs = await call(`/v1/runs/${runId}`);
    const nobodys = await call('/v1/runs/run_aaaaaaaaaaaaaaaaaaaaaaaaaa');
    expect([theirs.status, await theirs.text()]).toEqual([404, await nobodys.text()]);
  });

  test.each([
    ['a:b', 'api:u.a%3Ab:k'],
    ['Zoë', 'api:u.Zo%C3%AB:k'],
    ['a%3Ab', 'api:u.a%253Ab:k'],
  ])('may have any id: %s', async (uid, record) => {
    const { installation, call } = signedIn({ ...USER, uid });
    await call('/v1/runs', { method: 'POST', body: START });
    expect([...installation.world.db.records.keys()]).toEqual([record]);
  });
});

test.each([
  ['no tenant', { role: 'admin' }],
  ['no role', { tenant: 'acme' }],
  ['an unknown role', { tenant: 'acme', role: 'root' }],
  ['a role that is a list', { tenant: 'acme', role: ['admin'] }],
  ['an empty tenant', { tenant: '', role: 'admin' }],
  ['a tenant that is a path', { tenant: 'a/b', role: 'admin' }],
  ['a tenant that is no text', { tenant: 7, role: 'admin' }],
])('an account with %s is answered 403', async (_what, claims) => {
  const answer = await signedIn({ uid: 'anna', claims }).call('/v1/runs');
  expect(answer.status).toBe(403);
  expect(await answer.json()).toMatchObject({ code: 'FORBIDDEN' });
});

test.each([
  ['that the provider does not know', 'aaaa.bbbb.cccc'],
  ['of two parts', 'aaaa.bbbb'],
  ['without a signature', 'aaaa.bbbb.'],
  ['of four parts', 'aaaa.bbbb.cccc.dddd'],
  ['that is huge', `aaaa.${'b'.repeat(8_000)}.cccc`],
])('a token %s is answered 401, like a wrong key', async (_what, bearer) => {
  const { call, installation } = signedIn(USER);
  const answer = await call('/v1/runs', { bearer });
  expect(answer.status).toBe(401);
  expect(await answer.text()).toBe(await (await installation.get('/v1/runs', 'cairn_x_y')).text());
});

test.each(['', '\ud800', 'ä'.repeat(128)])(
  'a user id that is not a valid name is answered 401: %j',
  async (uid) => {
    expect((await signedIn({ ...USER, uid }).call('/v1/runs')).status).toBe(401);
  },
);

test('an unreachable provider is answered 503, and API keys still work', async () => {
  const { call, installation, asked } = signedIn('unavailable');
  expect((await call('/v1/runs')).status).toBe(503);
  expect((await call('/v1/runs', { bearer: await installation.key('dev') })).status).toBe(200);
  expect(asked).toEqual([TOKEN]);
});
