import { describe, expect, test } from '@jest/globals';
import { CLIENT_LOOK_AGAIN_MS, CLIENT_TTL_MS } from '../../../packages/cairn/src/api/auth.ts';
import { MAX_CLIENTS_LISTED } from '../../../packages/cairn/src/api/routes/installation/clients.ts';
import { RECORD_TTL_MS } from '../../../packages/cairn/src/core/decisions/idempotency.ts';
import { MAX_RETIRED } from '../../../packages/cairn/src/operations/clients.ts';
import { OutcomeUnknown } from '../../../packages/cairn/src/ports/store-errors.ts';
import { Installation } from '../installation.ts';

interface Shown {
  readonly id: string;
  readonly secret: string;
  readonly [name: string]: unknown;
}

async function office() {
  const installation = new Installation();
  const admin = await installation.key('boss', { roles: ['admin'] });
  const post = (path: string, body: unknown = {}, { key = admin, once = '' } = {}) =>
    installation.api.request(path, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        ...(once ? { 'idempotency-key': once } : {}),
      },
    });
  const create = async (once?: string) =>
    (await (
      await post('/v1/clients', { name: 'CI', role: 'submitter' }, once ? { once } : {})
    ).json()) as Shown;
  const works = async (key: string) => (await installation.get('/v1/runs', key)).status === 200;
  return { installation, admin, post, create, works, clock: installation.world.clock };
}

describe('a created client', () => {
  test('has a key that works at once, with its role, in the tenant of its creator', async () => {
    const { installation, post, works } = await office();
    const answer = await post('/v1/clients', { name: 'CI', role: 'submitter' });
    expect(answer.status).toBe(201);
    const { id, secret, ...shown } = (await answer.json()) as Shown;
    expect(secret).toMatch(new RegExp(`^cairn_${id}_[0-9a-f]{64}$`));
    expect(shown).toEqual({
      name: 'CI',
      role: 'submitter',
      revoked: false,
      createdAt: expect.stringMatching(/Z$/),
      createdBy: 'c.boss',
      oldSecretsEndAt: [],
    });
    expect(await works(secret)).toBe(true);
    expect((await installation.get('/v1/clients', secret)).status).toBe(403);
    expect(installation.world.db.clients.get(id)?.tenantId).toBe('acme');
  });

  test('does not store its secret: not in the client, the list, or the idempotency record', async () => {
    const { installation, admin, create } = await office();
    const { secret } = await create('once');
    const bare = secret.split('_')[2] ?? '';
    const { db } = installation.world;
    const stored = JSON.stringify([[...db.clients.values()], [...db.records.values()]]);
    expect(stored).toContain('"name":"CI"');
    expect(stored).not.toContain(bare);
    expect(await (await installation.get('/v1/clients', admin)).text()).not.toContain(bare);
    expect(await (await installation.get('/v1/idempotency/once', admin)).text()).not.toContain(bare);
  });

  test('is created once per key, and a repetition says that the secret was shown', async () => {
    const { installation, post, create } = await office();
    const { id } = await create('once');
    const again = await post('/v1/clients', { name: 'CI', role: 'submitter' }, { once: 'once' });
    expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([201, 'true']);
    const shown = await again.json();
    expect(shown).toMatchObject({ id, secretShown: true });
    expect(shown).not.toHaveProperty('secret');
    expect(installation.world.db.clients.size).toBe(2);
  });

  test('receives its key although the answer of the store was lost', async () => {
    const { installation, create, works, clock } = await office();
    const { clients } = installation;
    const make = clients.create.bind(clients);
    let lost = 0;
    clients.create = async (client) => {
      const result = await make(client);
      if (lost++ === 0) throw new OutcomeUnknown('create', new Error('lost'));
      return result;
    };
    const made = create();
    while (lost < 2) {
      await new Promise((resolve) => setImmediate(resolve));
      clock.fireNext();
    }
    expect(await works((await made).secret)).toBe(true);
  });

  test.each([
    [{}],
    [{ name: 'x' }],
    [{ name: '', role: 'viewer' }],
    [{ name: 'x', role: 'root' }],
    [{ name: 'x', role: 'viewer', tenantId: 'rival' }],
    [{ name: 'x'.repeat(101), role: 'viewer' }],
  ])('is refused without anything written: %j', async (body) => {
    const { installation, post } = await office();
    expect((await post('/v1/clients', body, { once: 'k' })).status).toBe(400);
    expect(installation.world.db.clients.size).toBe(1);
    expect(installation.written()).toBe(0);
  });
});

describe('a rotated secret', () => {
  test('works at once, and the old one until the grace period is over', async () => {
    const { post, create, works, clock } = await office();
    const { id, secret: old } = await create();
    expect(await works(old)).toBe(true);
    clock.jump(CLIENT_LOOK_AGAIN_MS);
    const answer = await post(`/v1/clients/${id}/rotate`, { graceSeconds: 60 });
    const { secret, oldSecretsEndAt } = (await answer.json()) as Shown;
    expect(oldSecretsEndAt).toEqual([new Date(clock.now() + 60_000).toISOString()]);
    expect(await Promise.all([works(secret), works(old)])).toEqual([true, true]);
    clock.jump(59_999);
    expect(await works(old)).toBe(true);
    clock.jump(1);
    expect(await Promise.all([works(secret), works(old)])).toEqual([true, false]);
  });

  test('without a grace period ends all others once the caches expire', async () => {
    const { post, create, works, clock } = await office();
    const { id, secret: first } = await create();
    const { secret: second } = (await (await post(`/v1/clients/${id}/rotate`)).json()) as Shown;
    await post(`/v1/clients/${id}/rotate`, { graceSeconds: 0 });
    clock.jump(CLIENT_TTL_MS);
    expect(await Promise.all([works(first), works(second)])).toEqual([false, false]);
  });

  test('keeps the key in use valid although answers were lost, up to a few times', async () => {
    const { post, create, works, clock } = await office();
    const { id, secret } = await create();
    for (let turn = 0; turn < MAX_RETIRED; turn += 1) await post(`/v1/clients/${id}/rotate`);
    clock.jump(CLIENT_TTL_MS);
    expect(await works(secret)).toBe(true);
    await post(`/v1/clients/${id}/rotate`);
    clock.jump(CLIENT_TTL_MS);
    expect(await works(secret)).toBe(false);
  });

  test('is created once per key', async () => {
    const { post, create, works, clock } = await office();
    const { id } = await create();
    const first = (await (await post(`/v1/clients/${id}/rotate`, {}, { once: 'r' })).json()) as Shown;
    const again = await post(`/v1/clients/${id}/rotate`, {}, { once: 'r' });
    expect(await again.json()).toMatchObject({ id, secretShown: true });
    clock.jump(RECORD_TTL_MS - 1);
    expect(await works(first.secret)).toBe(true);
  });
});

describe('a revoked client', () => {
  test('is refused once its cache entry expires, and stays revoked', async () => {
    const { post, create, works, clock } = await office();
    const { id, secret } = await create();
    await post(`/v1/clients/${id}/rotate`);
    const answer = await post(`/v1/clients/${id}/revoke`);
    expect(await answer.json()).toMatchObject({ id, revoked: true, oldSecretsEndAt: [] });
    expect((await post(`/v1/clients/${id}/revoke`)).status).toBe(200);
    clock.jump(CLIENT_TTL_MS);
    expect(await works(secret)).toBe(false);
    expect((await post(`/v1/clients/${id}/rotate`)).status).toBe(403);
  });

  test('cannot be the caller itself', async () => {
    const { post, works, admin } = await office();
    expect((await post('/v1/clients/boss/revoke')).status).toBe(403);
    expect(await works(admin)).toBe(true);
  });
});

describe('clients', () => {
  test.each(['viewer', 'submitter', 'operator'] as const)('are hidden from a %s', async (role) => {
    const { installation, post, create } = await office();
    const { id } = await create();
    const key = await installation.key('low', { roles: [role] });
    const answers = [
      await installation.get('/v1/clients', key),
      await post('/v1/clients', { name: 'x', role: 'viewer' }, { key }),
      await post(`/v1/clients/${id}/rotate`, {}, { key }),
      await post(`/v1/clients/${id}/revoke`, {}, { key }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([403, 403, 403, 403]);
  });

  test('of a role above the caller cannot be created, rotated or revoked by it', async () => {
    const { installation, post } = await office();
    await installation.key('owner', { roles: ['installation'] });
    const before = new Map(installation.world.db.clients);
    const refused = [
      await post('/v1/clients', { name: 'mine', role: 'installation' }),
      await post('/v1/clients/owner/rotate'),
      await post('/v1/clients/owner/revoke'),
    ];
    expect(refused.map(({ status }) => status)).toEqual([403, 403, 403]);
    expect(new Map(installation.world.db.clients)).toEqual(before);
    const key = await installation.key('owner', { roles: ['installation'] });
    expect((await post('/v1/clients', { name: 'second', role: 'installation' }, { key })).status).toBe(201);
  });

  test('of another tenant are answered as missing', async () => {
    const { installation, post, create, works } = await office();
    const { id, secret } = await create();
    const key = await installation.key('rival', { tenantId: 'rival', roles: ['admin'] });
    for (const verb of ['rotate', 'revoke']) {
      const theirs = await post(`/v1/clients/${id}/${verb}`, {}, { key, once: 'k1' });
      const nobodys = await post(`/v1/clients/nobody/${verb}`, {}, { key, once: 'k2' });
      expect(theirs.status).toBe(404);
      expect(await theirs.text()).toBe(await nobodys.text());
    }
    expect(installation.written()).toBe(0);
    const list = (await (await installation.get('/v1/clients', key)).json()) as { items: Shown[] };
    expect(list.items.map((one) => one.id)).toEqual(['rival']);
    expect(await works(secret)).toBe(true);
  });

  test.each(['a_b', '%2e%2e', 'x'.repeat(65), 'a%2Fb'])('cannot have the id %s', async (id) => {
    const { post } = await office();
    expect((await post(`/v1/clients/${id}/revoke`)).status).toBe(404);
  });

  test('are listed up to a limit, which the answer states', async () => {
    const { installation, admin } = await office();
    for (let n = 0; n < MAX_CLIENTS_LISTED; n += 1) await installation.key(`c-${n}`);
    const list = (await (await installation.get('/v1/clients', admin)).json()) as { items: Shown[] };
    expect(list).toMatchObject({ more: true });
    expect(list.items).toHaveLength(MAX_CLIENTS_LISTED);
  });
});
