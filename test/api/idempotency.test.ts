import { describe, expect, test } from '@jest/globals';
import { RECORD_TTL_MS } from '../../packages/cairn/src/core/decisions/idempotency.ts';
import { Installation } from './installation.ts';

const START = { type: 'echo', input: { text: 'hello' } };

async function started(name: string) {
  const installation = new Installation();
  const key = await installation.key('dev');
  const answer = await installation.post(key, START, { 'idempotency-key': name });
  const body = (await answer.json()) as { runId: string };
  return { installation, key, body };
}

describe('the record of a key', () => {
  test.each([
    ['bare', 'order-1'],
    ['quoted', '%22order-1%22'],
  ])('(%s) tells its caller the result of the request', async (_form, path) => {
    const { installation, key, body } = await started('order-1');
    const answer = await installation.get(`/v1/idempotency/${path}`, key);
    expect(answer.status).toBe(200);
    const now = installation.world.clock.now();
    expect(await answer.json()).toEqual({
      key: 'order-1',
      status: 'completed',
      attempts: 1,
      runId: body.runId,
      response: { status: 201, body },
      createdAt: new Date(now).toISOString(),
      updatedAt: new Date(now).toISOString(),
      expiresAt: new Date(now + RECORD_TTL_MS).toISOString(),
    });
  });

  test.each(['a/b', 'a:b', 'a%2Fb', 'a?b#c', '%'])('may have any text: %s', async (name) => {
    const { installation, key } = await started(name);
    const answer = await installation.get(`/v1/idempotency/${encodeURIComponent(name)}`, key);
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({ key: name });
  });

  test('of a mutation other than a start shows status and body of the answer, also of a refusal', async () => {
    const installation = new Installation();
    const key = await installation.key('ops', { roles: ['operator'] });
    const { runId } = (await (await installation.post(key, START)).json()) as { runId: string };
    const cancel = (body: string) =>
      installation.api.request(`/v1/runs/${runId}/cancel`, {
        method: 'POST',
        body,
        headers: {
          authorization: `Bearer ${key}`,
          'content-type': 'application/json',
          'idempotency-key': 'stop',
        },
      });
    const answer = await cancel('{"reason":"wrong"}');
    const shown = (await (await installation.get('/v1/idempotency/stop', key)).json()) as {
      response: unknown;
    };
    expect(shown.response).toEqual({ status: answer.status, body: await answer.json() });
  });

  test('exists until it expires, and is answered 410 afterwards', async () => {
    const { installation, key } = await started('order-1');
    installation.world.clock.jump(RECORD_TTL_MS - 1);
    expect((await installation.get('/v1/idempotency/order-1', key)).status).toBe(200);
    installation.world.clock.jump(1);
    const answer = await installation.get('/v1/idempotency/order-1', key);
    expect(answer.status).toBe(410);
    expect(await answer.json()).toMatchObject({ code: 'IDEMPOTENCY_EXPIRED' });
  });

  test.each([
    ['another client of the tenant', 'other', 'acme'],
    ['a client of another tenant', 'other', 'rival'],
    ['the same client id after it went to another tenant', 'dev', 'rival'],
  ])('is unknown to %s, expired or not', async (_who, clientId, tenantId) => {
    const { installation } = await started('order-1');
    const stranger = await installation.key(clientId, { tenantId });
    // Cached facts about the client stay valid for a while.
    installation.world.clock.jump(60_000);
    for (const wait of [0, RECORD_TTL_MS]) {
      installation.world.clock.jump(wait);
      const theirs = await installation.get('/v1/idempotency/order-1', stranger);
      const nobodys = await installation.get('/v1/idempotency/never-used', stranger);
      expect(theirs.status).toBe(404);
      expect(await theirs.text()).toBe(await nobodys.text());
    }
  });

  test.each(['%00', 'a%20b', '%22', 'x'.repeat(256), '%C3%A4'])(
    'is answered 400 if the key is invalid: %s',
    async (name) => {
      const installation = new Installation();
      const answer = await installation.get(`/v1/idempotency/${name}`, await installation.key('dev'));
      expect(answer.status).toBe(400);
      expect(await answer.json()).toMatchObject({ code: 'INVALID_INPUT' });
    },
  );
});
