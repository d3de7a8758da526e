import { describe, expect, test } from '@jest/globals';
import { RECORD_TTL_MS } from '../../packages/cairn/src/core/decisions/idempotency.ts';
import { drive } from '../../packages/cairn/src/engine/drive/drive.ts';
import type { Role } from '../../packages/cairn/src/ports/access/client-store.ts';
import { OutcomeUnknown } from '../../packages/cairn/src/ports/store-errors.ts';
import { intercept, never } from '../support/intercept.ts';
import { settle } from '../support/virtual-clock.ts';
import { Installation } from './installation.ts';

interface Ready {
  readonly installation: Installation;
  readonly key: string;
  readonly runId: string;
  cancel(body?: unknown, more?: Partial<Call>): Promise<Response>;
}

interface Call {
  readonly key: string;
  readonly runId: string;
  readonly query: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** A run without a dispatch, and a client that may cancel it. */
async function ready(): Promise<Ready> {
  const installation = new Installation();
  const key = await installation.key('ops', { roles: ['operator'] });
  const own = { type: 'echo', input: { text: 'hi' } };
  const { runId } = (await (await installation.post(key, own)).json()) as { runId: string };
  return {
    installation,
    key,
    runId,
    cancel: async (body, more = {}) =>
      installation.api.request(`/v1/runs/${more.runId ?? runId}/cancel${more.query ?? ''}`, {
        method: 'POST',
        ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
        headers: {
          authorization: `Bearer ${more.key ?? key}`,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...more.headers,
        },
      }),
  };
}

describe('POST /v1/runs/{id}/cancel', () => {
  test('ends a run without a worker, and records the author and the reason', async () => {
    const { installation, key, runId, cancel } = await ready();
    const answer = await cancel({ reason: 'a mistake' });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('application/json');
    expect(answer.headers.get('cache-control')).toBe('no-store');
    const requestedAt = new Date(installation.world.clock.now()).toISOString();
    expect(await answer.json()).toEqual({ runId, status: 'cancelled', requestedAt, reason: 'a mistake' });
    const run = await (await installation.get(`/v1/runs/${runId}`, key)).json();
    expect(run).toMatchObject({
      status: 'cancelled',
      stopKind: 'user',
      cancellation: { stopKind: 'user', actor: 'c.ops', reason: 'a mistake', requestedAt },
    });
  });

  test('needs no body, and no reason', async () => {
    for (const body of [undefined, {}]) {
      const { runId, cancel } = await ready();
      const answer = await cancel(body);
      expect(answer.status).toBe(200);
      expect(await answer.json()).toEqual({
        runId,
        status: 'cancelled',
        requestedAt: expect.stringMatching(/^\d{4}-.*Z$/),
      });
    }
  });

  test('asks the worker of a run to end it, and reports that', async () => {
    const { installation, runId, cancel } = await ready();
    const { deps } = installation.world;
    // A dispatch that stops after its claim.
    const timeless = { now: () => deps.clock.now(), timer: () => () => {} };
    let commits = 0;
    const store = intercept(deps.store, ({ method }, proceed) => {
      if (method === 'commit') commits += 1;
      return commits > 1 ? never() : proceed();
    });
    void drive({ ...deps, clock: timeless, store }, { runId });
    await settle();
    expect(await (await cancel()).json()).toMatchObject({ status: 'cancelling' });
  });

  test('is idempotent without a key: the first request counts', async () => {
    const { installation, cancel } = await ready();
    const first = await (await cancel({ reason: 'first' })).json();
    installation.world.clock.jump(5_000);
    const again = await cancel({ reason: 'second' });
    expect(again.status).toBe(200);
    expect(await again.json()).toEqual(first);
    expect(again.headers.has('idempotency-replayed')).toBe(false);
    expect(installation.world.db.records.size).toBe(0);
  });

  test('of a completed run is answered 409 with the code', async () => {
    const { installation, cancel } = await ready();
    await installation.world.run();
    const answer = await cancel();
    expect(answer.status).toBe(409);
    expect(answer.headers.get('content-type')).toBe('application/problem+json');
    expect(await answer.json()).toMatchObject({ code: 'RUN_TERMINAL_STATE', details: { from: 'completed' } });
  });

  test('allows no other method', async () => {
    const { installation, key, runId } = await ready();
    const answer = await installation.get(`/v1/runs/${runId}/cancel`, key);
    expect(answer.status).toBe(405);
    expect(answer.headers.get('allow')).toBe('POST');
  });
});

describe('with an idempotency key', () => {
  const headers = { 'idempotency-key': 'k1' };

  test('a repetition gets the same bytes and a marker, even when the run has moved on', async () => {
    const { installation, cancel } = await ready();
    const first = await cancel({ reason: 'r' }, { headers });
    const bytes = await first.text();
    expect(first.headers.has('idempotency-replayed')).toBe(false);
    installation.world.clock.jump(60_000);
    for (const form of ['k1', '"k1"']) {
      const again = await cancel({ reason: 'r' }, { headers: { 'idempotency-key': form } });
      expect(again.status).toBe(200);
      expect(again.headers.get('idempotency-replayed')).toBe('true');
      expect(again.headers.get('content-type')).toBe('application/json');
      expect(await again.text()).toBe(bytes);
    }
    expect(installation.world.db.records.get('api:c.ops:k1')?.record).toMatchObject({
      source: 'api',
      tenantId: 'acme',
      status: 'completed',
      expiresAt: installation.world.clock.now() - 60_000 + RECORD_TTL_MS,
    });
  });

  test('a refusal by the state of the run is repeated byte for byte too', async () => {
    const { installation, cancel } = await ready();
    await installation.world.run();
    const first = await cancel({}, { headers });
    const again = await cancel({}, { headers });
    expect([first.status, again.status]).toEqual([409, 409]);
    expect(again.headers.get('content-type')).toBe('application/problem+json');
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect(await again.text()).toBe(await first.text());
  });

  test('the key of another body, run or route is refused with 422', async () => {
    const { installation, key, cancel } = await ready();
    const own = { type: 'echo', input: { text: 'hi' } };
    const other = (await (await installation.post(key, own)).json()) as { runId: string };
    await cancel({ reason: 'r' }, { headers });
    const answers = [
      await cancel({ reason: 'other' }, { headers }),
      await cancel({ reason: 'r' }, { headers, runId: other.runId }),
      await installation.post(key, own, headers),
    ];
    for (const answer of answers) {
      expect(answer.status).toBe(422);
      expect(await answer.json()).toMatchObject({ code: 'IDEMPOTENCY_KEY_REUSED' });
    }
    const run = await (await installation.get(`/v1/runs/${other.runId}`, key)).json();
    expect(run).toMatchObject({ status: 'pending' });
  });

  test('two callers may use one key', async () => {
    const { installation, cancel } = await ready();
    const key = await installation.key('ops2', { roles: ['admin'] });
    await cancel({ reason: 'r' }, { headers });
    const other = await cancel({ reason: 'r' }, { headers, key });
    expect(other.status).toBe(200);
    expect(other.headers.has('idempotency-replayed')).toBe(false);
  });

  test('a request that is under way is answered 202, to be sent again', async () => {
    const { installation, cancel } = await ready();
    const held = Promise.withResolvers<void>();
    const { store } = installation.world;
    const commit = store.commit.bind(store);
    store.commit = (...args) => held.promise.then(() => commit(...args));
    const first = cancel({}, { headers });
    await settle();
    const second = await cancel({}, { headers });
    expect(second.status).toBe(202);
    expect(Number(second.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await second.json()).toEqual({ status: 'in_flight' });
    held.resolve();
    expect((await first).status).toBe(200);
    expect((await cancel({}, { headers })).headers.get('idempotency-replayed')).toBe('true');
  });
});

test('a run that stays busy is answered 503 with Retry-After, and the repetition with the same key cancels it', async () => {
  const { installation, cancel } = await ready();
  const headers = { 'idempotency-key': 'k1' };
  const { store, clock, db } = installation.world;
  const commit = store.commit;
  store.commit = () => Promise.reject(new OutcomeUnknown('commit', 'gone'));
  const before = clock.now();
  const asked = cancel({}, { headers });
  let answer: Response | undefined;
  void asked.then((response) => {
    answer = response;
  });
  for (let turn = 0; turn < 200 && !answer; turn += 1) {
    await settle();
    if (!answer) clock.fireNext();
  }
  expect(answer?.status).toBe(503);
  expect(Number(answer?.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(await answer?.json()).toMatchObject({ code: 'UNAVAILABLE' });
  expect(clock.now() - before).toBeLessThan(12_000);
  store.commit = commit;
  const again = await cancel({}, { headers });
  expect(again.status).toBe(200);
  expect(await again.json()).toMatchObject({ status: 'cancelled' });
  expect(db.records.get('api:c.ops:k1')?.record).toMatchObject({ status: 'completed', attempts: 1 });
});

describe('permissions', () => {
  test.each<[Role, number]>([
    ['viewer', 403],
    ['submitter', 403],
    ['operator', 200],
    ['admin', 200],
  ])('%s: %i', async (role, status) => {
    const { installation, runId, cancel } = await ready();
    const key = await installation.key('someone', { roles: [role] });
    expect((await cancel({}, { key })).status).toBe(status);
    const state = (await installation.world.store.load(runId))?.state;
    expect(state?.status).toBe(status === 200 ? 'cancelled' : 'pending');
  });

  test('a caller without a key is refused', async () => {
    const { cancel } = await ready();
    expect((await cancel({}, { key: 'none' })).status).toBe(401);
  });

  test('the admin of another tenant gets the answer for a missing run, and leaves no trace', async () => {
    const { installation, runId, cancel } = await ready();
    const key = await installation.key('far', { tenantId: 'other', roles: ['admin'] });
    const headers = { 'idempotency-key': 'k1' };
    const before = installation.written();
    const foreign = await cancel({}, { key, headers });
    const missing = await cancel({}, { key, headers, runId: `${runId.slice(0, -4)}aaaa` });
    const noId = await cancel({}, { key, headers, runId: 'run_1' });
    const bytes = await foreign.text();
    expect([foreign.status, missing.status, noId.status]).toEqual([404, 404, 404]);
    expect(await missing.text()).toBe(bytes);
    expect(await noId.text()).toBe(bytes);
    expect(JSON.parse(bytes)).toMatchObject({ code: 'RUN_NOT_FOUND' });
    expect(installation.written()).toBe(before);
    expect((await installation.world.store.load(runId))?.state.status).toBe('pending');
  });
});

describe('an invalid cancel is refused before anything is written', () => {
  test.each<[string, unknown, number, string | undefined]>([
    ['a body that is not JSON', '{"reason"', 400, undefined],
    ['an array', [], 400, undefined],
    ['null', 'null', 400, undefined],
    ['an unknown member', { reason: 'r', force: true }, 400, 'force'],
    ['a member named after a prototype', '{"__proto__":1}', 400, '__proto__'],
    ['a member with an endless name', { ['x'.repeat(5_000)]: 1 }, 400, `${'x'.repeat(99)}…`],
    ['a reason that is no text', { reason: 7 }, 400, 'reason'],
    ['a reason of null', { reason: null }, 400, 'reason'],
    ['an empty reason', { reason: '' }, 400, 'reason'],
    ['an overlong reason', { reason: 'x'.repeat(1_001) }, 400, 'reason'],
    ['half a character', '{"reason":"\\ud800"}', 400, 'reason'],
    ['deep nesting', `{"reason":${'['.repeat(150)}${']'.repeat(150)}}`, 400, undefined],
    ['more than 64 KiB', { reason: 'x'.repeat(64 * 1024) }, 413, undefined],
  ])('%s', async (_what, body, status, field) => {
    const { installation, runId, cancel } = await ready();
    const before = installation.written();
    const answer = await cancel(body, { headers: { 'idempotency-key': 'k1' } });
    expect(answer.status).toBe(status);
    const problem = (await answer.json()) as Record<string, unknown>;
    expect(problem).toMatchObject({ status, help: expect.any(String) });
    expect(problem.field).toBe(field);
    expect(installation.written()).toBe(before);
    expect((await installation.world.store.load(runId))?.state.head).toBe(1);
  });

  test.each<[string, Partial<Call>, number]>([
    ['a query parameter', { query: '?force=1' }, 400],
    ['a content type that is not JSON', { headers: { 'content-type': 'text/plain' } }, 415],
    ['an empty key', { headers: { 'idempotency-key': '""' } }, 400],
    ['an overlong key', { headers: { 'idempotency-key': 'x'.repeat(256) } }, 400],
  ])('%s', async (_what, call, status) => {
    const { installation, cancel } = await ready();
    const before = installation.written();
    expect((await cancel({ reason: 'r' }, call)).status).toBe(status);
    expect(installation.written()).toBe(before);
  });

  test('a reason of a thousand characters of any kind is accepted', async () => {
    const { cancel } = await ready();
    const reason = 'é\n"🪨'.repeat(200);
    expect(await (await cancel({ reason })).json()).toMatchObject({ reason });
  });
});
