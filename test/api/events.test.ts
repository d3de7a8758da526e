import { describe, expect, test } from '@jest/globals';
import { RECORD_TTL_MS } from '../../packages/cairn/src/core/decisions/idempotency.ts';
import { MAX_DELIVERED_BYTES, MAX_NAMED_RUNS } from '../../packages/cairn/src/core/mailbox/limits.ts';
import type { Role } from '../../packages/cairn/src/ports/access/client-store.ts';
import { OutcomeUnknown } from '../../packages/cairn/src/ports/store-errors.ts';
import { settle } from '../support/virtual-clock.ts';
import { announce, PLACE, place, waitingRun, waits } from '../support/waiting-runs.ts';
import { Installation } from './installation.ts';

const BUILT = { event: PLACE.event, key: PLACE.key, data: { build: 7 } };

interface Ready {
  readonly installation: Installation;
  /** A run of tenant `t1` that waits for `BUILT`. */
  readonly runId: string;
  post(
    path: string,
    body: unknown,
    headers?: Readonly<Record<string, string>>,
    key?: string,
  ): Promise<Response>;
}

async function ready(roles: readonly Role[] = ['submitter']): Promise<Ready> {
  const installation = new Installation([waits]);
  const own = await installation.key('ci', { tenantId: PLACE.tenantId, roles });
  const runId = await waitingRun(installation.world);
  await announce(installation.world.deps, runId);
  return {
    installation,
    runId,
    post: async (path, body, headers = {}, key = own) =>
      installation.api.request(path, {
        method: 'POST',
        body: typeof body === 'string' ? body : JSON.stringify(body),
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
      }),
  };
}

describe('POST /v1/events', () => {
  test('delivers the event to the waiting runs, and names them', async () => {
    const { installation, runId, post } = await ready();
    const answer = await post('/v1/events', BUILT);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('application/json');
    expect(await answer.json()).toEqual({
      eventId: expect.stringMatching(/^e\.[0-9a-f]{32}$/),
      delivered: [runId],
      kept: false,
      refused: [],
      repeated: false,
    });
    const events = await installation.world.store.readEvents(runId, 0, 100);
    expect(events.find(({ type }) => type === 'wait_resolved')).toMatchObject({ actor: 'c.ci' });
  });

  test('delivers to more runs than it names', async () => {
    const { installation, post } = await ready();
    const { world } = installation;
    const runIds: string[] = [];
    for (let more = 0; more <= MAX_NAMED_RUNS; more += 1) {
      const runId = await waitingRun(world);
      await announce(world.deps, runId);
      runIds.push(runId);
    }
    const answer = (await (await post('/v1/events', BUILT)).json()) as { delivered: string[] };
    expect(answer.delivered).toHaveLength(MAX_NAMED_RUNS);
    for (const runId of runIds) {
      const events = await world.store.readEvents(runId, 0, 100);
      expect(events.map(({ type }) => type)).toContain('wait_resolved');
    }
  });

  test('buffers an event without a receiver, and says until when', async () => {
    const { installation, post } = await ready();
    const answer = await post('/v1/events', { ...BUILT, key: 'other' });
    expect(answer.status).toBe(200);
    const keptUntil = new Date(installation.world.clock.now() + 24 * 3_600_000).toISOString();
    expect(await answer.json()).toMatchObject({ delivered: [], kept: true, keptUntil });
  });

  test('names the runs that refuse the event, and the reason', async () => {
    const { installation, post } = await ready();
    const strict = await waitingRun(installation.world, ['strict']);
    await announce(installation.world.deps, strict, 'strict');
    const body = await (await post('/v1/events', { ...BUILT, data: 'no build' })).json();
    expect(body).toMatchObject({
      refused: [{ runId: strict, code: 'INVALID_INPUT', reason: expect.any(String) }],
    });
  });

  test('accepts data of 256 KiB, and refuses more', async () => {
    const { post } = await ready();
    const data = 'x'.repeat(MAX_DELIVERED_BYTES - 2);
    expect((await post('/v1/events', { ...BUILT, data })).status).toBe(200);
    const refused = await post('/v1/events', { ...BUILT, data: `${data}x` });
    expect(refused.status).toBe(413);
    expect(await refused.json()).toMatchObject({ code: 'PAYLOAD_TOO_LARGE', field: 'data' });
    expect((await post('/v1/events', { ...BUILT, data: 'x'.repeat(400_000) })).status).toBe(413);
  });

  test('accepts an event without data', async () => {
    const { installation, runId, post } = await ready();
    expect((await post('/v1/events', { event: PLACE.event, key: PLACE.key })).status).toBe(200);
    const { head } = await installation.world.folded(runId);
    expect((await installation.world.store.readCheckpoints(runId, [head - 1]))[0]?.outputText).toBe('null');
  });

  test.each([
    ['without a key', { event: 'built' }, 400, 'key'],
    ['without a name', { key: 'main' }, 400, 'event'],
    ['with an empty name', { ...BUILT, event: '' }, 400, 'event'],
    ['with a name that is no text', { ...BUILT, event: 7 }, 400, 'event'],
    ['with a member nobody knows', { ...BUILT, tenantId: 't2' }, 400, 'tenantId'],
  ])('%s is refused with the field, and nothing is written', async (_, body, status, field) => {
    const { installation, post } = await ready();
    const stood = await place(installation.world);
    const answer = await post('/v1/events', body);
    expect(answer.status).toBe(status);
    expect(await answer.json()).toMatchObject({ code: 'INVALID_INPUT', field });
    expect(await place(installation.world)).toEqual(stood);
    expect(installation.world.db.mailboxes.size).toBe(1);
  });

  test.each([
    ['a viewer', ['viewer'], 403],
    ['a submitter', ['submitter'], 200],
    ['an operator', ['operator'], 200],
  ] as const)('by %s is %j: %i', async (_, roles, status) => {
    const { post } = await ready(roles);
    expect((await post('/v1/events', BUILT)).status).toBe(status);
  });

  test('by another tenant reaches no run of this one', async () => {
    const { installation, runId, post } = await ready();
    const foreign = await installation.key('spy', { tenantId: 't2' });
    expect(await (await post('/v1/events', BUILT, {}, foreign)).json()).toMatchObject({
      delivered: [],
      kept: true,
    });
    expect((await installation.world.folded(runId)).waits).toHaveLength(1);
  });

  test('allows no other method', async () => {
    const { installation } = await ready();
    const key = await installation.key('reader');
    const answer = await installation.get('/v1/events', key);
    expect(answer.status).toBe(405);
    expect(answer.headers.get('allow')).toBe('POST');
  });

  describe('with an idempotency key', () => {
    const KEYED = { 'idempotency-key': 'build-7' };

    test('is answered once, and repeated byte for byte', async () => {
      const { post } = await ready();
      const first = await post('/v1/events', BUILT, KEYED);
      const again = await post('/v1/events', BUILT, KEYED);
      expect(again.headers.get('idempotency-replayed')).toBe('true');
      expect(await again.text()).toBe(await first.text());
    });

    test('another event under the same key is refused', async () => {
      const { post } = await ready();
      await post('/v1/events', BUILT, KEYED);
      const answer = await post('/v1/events', { ...BUILT, data: 8 }, KEYED);
      expect(await answer.json()).toMatchObject({ status: 422, code: 'IDEMPOTENCY_KEY_REUSED' });
    });

    test('an event whose record was lost before the answer was stored is recognised as the same event', async () => {
      const { installation, post } = await ready();
      const { db, clock } = installation.world;
      const first = await (await post('/v1/events', BUILT, KEYED)).json();
      const [record] = db.records.values();
      if (!record) throw new Error('no record');
      const { response: _, ...rest } = record.record;
      // The state that a worker leaves if it dies after the delivery.
      db.records.set(record.record.key, {
        ...record,
        record: { ...rest, status: 'processing', lockExpiresAt: 0 },
      });
      clock.jump(1);
      expect(await (await post('/v1/events', BUILT, KEYED)).json()).toEqual({
        ...(first as object),
        repeated: true,
      });
    });

    test('an event whose record has expired is a new event', async () => {
      const { installation, post } = await ready();
      const first = (await (await post('/v1/events', BUILT, KEYED)).json()) as { eventId: string };
      installation.world.clock.jump(RECORD_TTL_MS);
      const second = (await (await post('/v1/events', BUILT, KEYED)).json()) as { eventId: string };
      expect(second).toMatchObject({ kept: true, repeated: false });
      expect(second.eventId).not.toBe(first.eventId);
    });
  });
});

describe('POST /v1/runs/{id}/signals', () => {
  test('answers a step that waits for it, or buffers the signal in the run', async () => {
    const { installation, runId, post } = await ready();
    const signal = (name: string) => post(`/v1/runs/${runId}/signals`, { name, key: PLACE.key, data: 1 });
    const answer = await signal('later');
    expect(answer.status).toBe(200);
    const signalId = expect.stringMatching(/^s\.[0-9a-f]{32}$/);
    expect(await answer.json()).toEqual({ runId, signalId, outcome: 'kept' });
    expect(await (await signal(PLACE.event)).json()).toEqual({ runId, signalId, outcome: 'taken_in' });
    expect(await installation.world.folded(runId)).toMatchObject({ waits: [], unread: [{ name: 'later' }] });
  });

  test('with an idempotency key is answered once, and repeated byte for byte', async () => {
    const { installation, runId, post } = await ready();
    const signal = () => post(`/v1/runs/${runId}/signals`, { name: 'later' }, { 'x-idempotency-key': 'k' });
    const first = await signal();
    const again = await signal();
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect(await again.text()).toBe(await first.text());
    expect((await installation.world.folded(runId)).unread).toHaveLength(1);
  });

  test('that was appended, its answer lost, is the same signal when it is repeated more than an hour later', async () => {
    const { installation, runId, post } = await ready();
    const { store, clock, db } = installation.world;
    const { commit } = store;
    store.commit = async (request) => {
      store.load = () => Promise.reject(new OutcomeUnknown('load', 'gone'));
      store.commit = () => Promise.reject(new OutcomeUnknown('commit', 'gone'));
      await commit.call(store, request);
      throw new OutcomeUnknown('commit', 'answer lost');
    };
    const { load } = store;
    const signal = () => post(`/v1/runs/${runId}/signals`, { name: 'later' }, { 'idempotency-key': 'k' });
    let answer: Response | undefined;
    const asked = signal().then((response) => {
      answer = response;
    });
    for (let turn = 0; turn < 200 && !answer; turn += 1) {
      await settle();
      if (!answer) clock.fireNext();
    }
    await asked;
    expect([answer?.status, db.records.get('api:c.ci:k')?.record.status]).toEqual([503, 'failed']);
    Object.assign(store, { commit, load });
    clock.jump(61 * 60_000);
    const again = await signal();
    expect(await again.json()).toMatchObject({ runId, outcome: 'kept' });
    expect((await installation.world.folded(runId)).unread).toHaveLength(1);
  });

  test('to a run of another tenant is answered 404, and leaves no record', async () => {
    const { installation, runId, post } = await ready();
    const foreign = await installation.key('spy', { tenantId: 't2' });
    const answer = await post(
      `/v1/runs/${runId}/signals`,
      { name: 'x' },
      { 'idempotency-key': 'k' },
      foreign,
    );
    expect(answer.status).toBe(404);
    expect(await answer.json()).toMatchObject({ code: 'RUN_NOT_FOUND' });
    expect(installation.world.db.records.size).toBe(0);
  });

  test.each([
    ['without a name', {}, 400, 'INVALID_INPUT'],
    ['with an empty key', { name: 'x', key: '' }, 400, 'INVALID_INPUT'],
    ['too large for an inbox', { name: 'x', data: 'x'.repeat(20_000) }, 413, 'PAYLOAD_TOO_LARGE'],
  ])('%s is refused', async (_, body, status, code) => {
    const { runId, post } = await ready();
    const answer = await post(`/v1/runs/${runId}/signals`, body);
    expect(answer.status).toBe(status);
    expect(await answer.json()).toMatchObject({ code });
  });

  test('by a viewer is answered 403', async () => {
    const { runId, post } = await ready(['viewer']);
    expect((await post(`/v1/runs/${runId}/signals`, { name: 'x' })).status).toBe(403);
  });

  test('to a run that has ended is answered 409', async () => {
    const { installation, runId, post } = await ready();
    const ops = await installation.key('ops', { tenantId: PLACE.tenantId, roles: ['operator'] });
    await post(`/v1/runs/${runId}/cancel`, {}, {}, ops);
    const answer = await post(`/v1/runs/${runId}/signals`, { name: 'x' });
    expect(answer.status).toBe(409);
    expect(await answer.json()).toMatchObject({ code: 'RUN_TERMINAL_STATE' });
  });
});
