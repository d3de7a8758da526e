import { beforeEach, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { DEFAULT_RETRY } from '../../packages/cairn/src/core/decisions/retry.ts';
import { Bindings } from '../../packages/cairn/src/engine/define/bindings.ts';
import { defineBinding, defineCapability } from '../../packages/cairn/src/engine/define/capability.ts';
import { ExternalEffects } from '../../packages/cairn/src/engine/external/external-effects.ts';
import { Stage } from '../cli/support/stage.ts';

const charge = defineCapability({
  id: 'shop.charge',
  sideEffects: 'external_action',
  idempotency: 'not_supported',
  request: z.object({ cents: z.number(), card: z.string() }),
  response: z.object({ id: z.string() }),
  secrets: { request: ['card'] },
});

let stage: Stage;
let calls: number;
let fails: boolean;

beforeEach(() => {
  // The installation does not know the capability, because another function of the codebase has it.
  stage = new Stage();
  calls = 0;
  fails = true;
});

function once(tenantId = 't1', key = 'order-7'): Promise<unknown> {
  const { world } = stage.installation;
  const binding = defineBinding(charge, {
    id: 'shop',
    call: async () => {
      calls += 1;
      if (fails) throw new Error('socket hang up');
      return { id: `ch_${calls}` };
    },
  });
  const effects = new ExternalEffects(
    {
      ledger: { ...world.deps, effects: world.effects },
      runtime: world.deps.runtime,
      bindings: new Bindings([binding]),
    },
    { callTimeoutMs: 1_000, retry: DEFAULT_RETRY },
  );
  const request = { cents: 5, card: '4242' };
  const { signal } = new AbortController();
  return effects.once({ tenantId, key, capability: charge as never, request, signal });
}

async function keyOf(tenantId: string, role: 'viewer' | 'operator' = 'operator'): Promise<string> {
  return stage.installation.key(`k-${tenantId}-${role}`, { tenantId, roles: [role] });
}

async function inboxOf(tenantId: string) {
  const answer = await stage.installation.get('/v1/inbox', await keyOf(tenantId, 'viewer'));
  return (await answer.json()) as { items: unknown[]; external?: { owner: string; effectId: string }[] };
}

function resolve(owner: string, effectId: string, body: unknown, key: string, idempotencyKey = 'r1') {
  const path = `/v1/runs/${encodeURIComponent(owner)}/effects/${effectId}/resolve`;
  return stage.installation.api.request(path, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      'idempotency-key': idempotencyKey,
    },
    body: JSON.stringify(body),
  });
}

describe('an effect without a run that is in doubt', () => {
  test('is in the inbox of its tenant, is listed for its owner, and the recorded answer is returned to the next call', async () => {
    await expect(once()).rejects.toMatchObject({ code: 'EFFECT_PENDING', why: 'doubt' });
    const { items, external = [] } = await inboxOf('t1');
    expect([items, external]).toMatchObject([
      [],
      [
        {
          owner: 'external:t1:order-7',
          key: 'order-7',
          capabilityId: 'shop.charge',
          why: 'doubt',
          question: expect.stringContaining(
            "called 'shop.charge' for key 'order-7', and the outcome is unknown",
          ),
          request: { cents: 5 },
        },
      ],
    ]);
    expect(JSON.stringify(external)).not.toContain('4242');
    expect((await inboxOf('t2')).external).toBeUndefined();
    const [{ owner, effectId }] = external as [{ owner: string; effectId: string }];
    const list = (tenant: string) =>
      keyOf(tenant, 'viewer').then((key) =>
        stage.installation.get(`/v1/runs/${encodeURIComponent(owner)}/effects`, key),
      );
    expect(await (await list('t1')).json()).toMatchObject({
      items: [{ effectId, runId: owner, status: 'blocked' }],
    });
    expect((await list('t2')).status).toBe(404);

    const body = { outcome: 'recorded', result: { id: 'ch_9' }, note: 'found it' };
    expect((await resolve(owner, effectId, body, await keyOf('t2'))).status).toBe(404);
    expect((await resolve(owner, effectId, body, await keyOf('t1', 'viewer'))).status).toBe(403);
    expect((await resolve(owner, effectId, body, await keyOf('t1'), 'r2')).status).toBe(200);
    expect((await resolve(owner, effectId, { outcome: 'failed' }, await keyOf('t1'), 'r3')).status).toBe(409);
    expect((await resolve(owner, effectId, body, await keyOf('t1'), 'r4')).status).toBe(200);
    expect((await inboxOf('t1')).external).toBeUndefined();
    fails = false;
    expect([await once(), calls]).toEqual([{ id: 'ch_9' }, 1]);
  });

  test('is called once more if a person allows it, and not at all if a person forbids it', async () => {
    await expect(once()).rejects.toMatchObject({ code: 'EFFECT_PENDING' });
    await expect(once('t1', 'order-8')).rejects.toMatchObject({ code: 'EFFECT_PENDING' });
    const { external = [] } = await inboxOf('t1');
    const idOf = (key: string) => external.find(({ owner }) => owner.endsWith(key))?.effectId ?? '';
    const key = await keyOf('t1');
    const no = { outcome: 'failed', note: 'refunded' };
    await resolve('external:t1:order-7', idOf('order-7'), { outcome: 're-execute' }, key, 'a');
    await resolve('external:t1:order-8', idOf('order-8'), no, key, 'b');
    fails = false;
    const ends = await Promise.allSettled([once('t1', 'order-7'), once('t1', 'order-8')]);
    expect(ends).toMatchObject([
      { value: { id: 'ch_3' } },
      {
        reason: {
          code: 'EFFECT_FORBIDDEN',
          by: 'c.k-t1-operator',
          message: expect.stringContaining('refunded'),
        },
      },
    ]);
    expect(calls).toBe(3);
  });

  test('is shown by `cairn inbox` with the command that resolves it', async () => {
    await expect(once()).rejects.toMatchObject({ code: 'EFFECT_PENDING' });
    const inbox = await stage.cairn(['inbox']);
    expect(inbox.out).toContain('Effects without a run');
    const [, line = ''] = /cairn (effects resolve .*) recorded\|re-execute\|failed/.exec(inbox.out) ?? [];
    expect((await stage.cairn(['effects', 'list', 'external:t1:order-7'])).out).toContain('shop.charge');
    const words = [...line.split(' '), 'recorded', '--result', '{"id":"ch_1"}'];
    expect(await stage.cairn(words)).toMatchObject({ code: 0, out: expect.stringContaining('recorded') });
    expect((await stage.cairn(['inbox'])).err).toBe('No open questions.\n');
  });

  test('is checked by `cairn check` with its owner, and only by the tenant of the owner', async () => {
    await expect(once()).rejects.toMatchObject({ code: 'EFFECT_PENDING' });
    const path = '/v1/runs/external:t1:order-7/consistency';
    const sound = await stage.cairn(['check', 'external:t1:order-7']);
    expect(sound).toMatchObject({ code: 0, out: expect.stringContaining('all rows are sound') });
    const other = await stage.installation.get(path, await keyOf('t2'));
    expect([other.status, await other.json()]).toMatchObject([404, { code: 'RUN_NOT_FOUND' }]);
    const { effects } = stage.installation.world.db;
    for (const [id, { record, version }] of [...effects])
      effects.set(id, { record: { ...record, askingSince: undefined }, version });
    const damaged = await stage.cairn(['check', 'external:t1:order-7']);
    expect(damaged).toMatchObject({ code: 7, out: expect.stringContaining('EFFECT_DIFFERENT') });
  });
});
