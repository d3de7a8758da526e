import { describe, expect, test } from '@jest/globals';
import type { World } from '../../packages/cli/src/world.ts';
import { listening, saying } from './support/stage.ts';

interface Sent {
  readonly url: string;
  readonly method: string;
  readonly key: string | null;
  readonly authorization: string | null;
  readonly body: string | undefined;
}

type Reply = () => Response | Promise<Response>;

const problem =
  (status: number, code: string, more: object = {}) =>
  () =>
    new Response(
      JSON.stringify({ status, code, title: 'No', detail: 'it is so', help: 'do otherwise', ...more }),
      {
        status,
        headers: { 'content-type': 'application/problem+json' },
      },
    );
const busy = (status: number, after: string) => () =>
  new Response(JSON.stringify({ status: 'in_flight' }), { status, headers: { 'retry-after': after } });
const nobody = () =>
  Promise.reject(new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED') }));
const cancelled = () =>
  Response.json({ runId: 'run_1', status: 'cancelled', requestedAt: '2026-01-01T00:00:00.000Z' });

/** Answers with the steps in order, then repeats the last one. */
function server(...replies: readonly Reply[]) {
  const sent: Sent[] = [];
  const fetch: World['fetch'] = async (url, init) => {
    const headers = new Headers(init.headers);
    sent.push({
      url,
      method: init.method ?? 'GET',
      key: headers.get('idempotency-key'),
      authorization: headers.get('authorization'),
      body: init.body as string | undefined,
    });
    expect(init.redirect).toBe('manual');
    return (replies[Math.min(sent.length, replies.length) - 1] as Reply)();
  };
  const env = { CAIRN_URL: 'https://a.test', CAIRN_API_KEY: 'k' };
  return { sent, world: listening({ fetch, env }) };
}

const CANCEL = ['runs', 'cancel', 'run_1', '--reason', 'enough'];

describe('a change', () => {
  test('is sent with a new idempotency key, or the one that is given', async () => {
    const { sent, world } = server(cancelled);
    expect((await saying(CANCEL, world)).code).toBe(0);
    expect((await saying([...CANCEL, '--key', 'mine'], world)).code).toBe(0);
    expect(sent).toEqual([
      {
        url: 'https://a.test/v1/runs/run_1/cancel',
        method: 'POST',
        key: 'cli-token1',
        authorization: 'Bearer k',
        body: '{"reason":"enough"}',
      },
      expect.objectContaining({ key: 'mine' }),
    ]);
  });

  test('without a response is repeated unchanged, and then reports how to repeat it', async () => {
    const { sent, world } = server(nobody);
    const { code, err } = await saying(CANCEL, world);
    expect(code).toBe(4);
    expect(sent).toHaveLength(4);
    expect(new Set(sent.map((one) => JSON.stringify(one))).size).toBe(1);
    expect(err).toContain('https://a.test does not respond: connect ECONNREFUSED');
    expect(err).toContain('--key cli-token1');
  });

  test('that succeeds at the second attempt succeeds', async () => {
    const { sent, world } = server(nobody, problem(503, 'UNAVAILABLE'), busy(202, '1'), cancelled);
    const { code, out } = await saying(CANCEL, world);
    expect([code, out]).toEqual([0, 'cancelled run_1\n']);
    expect(sent).toHaveLength(4);
    expect(world.pauses).toEqual([500, 1_000, 1_000]);
  });

  test('that is accepted for later succeeds', async () => {
    const accepted = {
      id: 'e1',
      scope: 'tenant',
      state: 'open',
      lineagesLeft: 1,
      requestedAt: '2026-01-01T00:00:00.000Z',
    };
    const { sent, world } = server(() => Response.json(accepted, { status: 202 }));
    const { code, out } = await saying(['tenants', 'erase', 'acme', '--confirm', 'acme', '--json'], world);
    expect([code, JSON.parse(out)]).toEqual([0, accepted]);
    expect(sent).toHaveLength(1);
  });

  test('waits for the time in the response, within a limit', async () => {
    const { world } = server(busy(202, '3'), problem(429, 'RATE_LIMITED'), busy(202, '900'), cancelled);
    const { code, err } = await saying(CANCEL, world);
    expect(world.pauses).toEqual([3_000, 1_000]);
    expect([code, err]).toEqual([4, expect.stringContaining('--key cli-token1')]);
  });

  test('reports an unknown outcome, but not for a refusal', async () => {
    const inFlight = await saying(CANCEL, server(busy(202, '1')).world);
    expect([inFlight.code, inFlight.err]).toEqual([4, expect.stringContaining('--key cli-token1')]);
    const broken = await saying(CANCEL, server(problem(500, 'INTERNAL')).world);
    expect([broken.code, broken.err]).toEqual([4, expect.stringContaining('--key cli-token1')]);
    const refused = await saying(CANCEL, server(problem(409, 'RUN_TERMINAL_STATE')).world);
    expect([refused.code, refused.err]).toEqual([1, expect.not.stringContaining('--key')]);
  });
});

describe('a refusal', () => {
  test.each([
    [400, 'INVALID_INPUT', 1],
    [401, 'UNAUTHENTICATED', 5],
    [403, 'FORBIDDEN', 5],
    [404, 'RUN_NOT_FOUND', 3],
    [409, 'APPROVAL_DECIDED', 1],
    [410, 'APPROVAL_EXPIRED', 1],
    [422, 'IDEMPOTENCY_KEY_REUSED', 1],
    [429, 'RATE_LIMITED', 4],
    [500, 'INTERNAL', 4],
    [503, 'UNAVAILABLE', 4],
  ])('%d %s exits with %d', async (status, code, exitCode) => {
    const output = await saying(['runs', 'show', 'run_1'], server(problem(status, code)).world);
    expect([output.code, output.out]).toEqual([exitCode, '']);
    expect(output.err).toContain(`${code} it is so (${status})`);
  });

  test('shows code, field, step, facts and help', async () => {
    const reply = problem(409, 'APPROVAL_DECIDED', {
      field: 'waitId',
      stepId: 'sign-off',
      details: { by: 'u.bo\x1b[2J' },
    });
    const { err } = await saying(['runs', 'show', 'run_1'], server(reply).world);
    expect(err).toBe(
      'APPROVAL_DECIDED it is so (409)\n  field: waitId\n  step: sign-off\n  by: u.bo�[2J\ndo otherwise\n',
    );
  });

  test('is JSON on standard error if that was requested, with the key', async () => {
    const { code, out, err } = await saying(
      [...CANCEL, '--json'],
      server(problem(409, 'RUN_TERMINAL_STATE')).world,
    );
    expect([code, out]).toEqual([1, '']);
    expect(JSON.parse(err)).toMatchObject({
      error: { code: 'RUN_TERMINAL_STATE', status: 409 },
      exitCode: 1,
      key: 'cli-token1',
    });
  });

  test('reports a server other than Cairn', async () => {
    const reply = () => new Response('<html>Bad gateway</html>', { status: 404 });
    const { code, err } = await saying(['runs', 'show', 'run_1'], server(reply).world);
    expect([code, err]).toEqual([3, expect.stringContaining('HTTP_404 a web page: Bad gateway')]);
    const html = await saying(
      ['runs', 'show', 'run_1'],
      server(() => new Response('<html>Sign in</html>')).world,
    );
    expect([html.code, html.err]).toEqual([1, expect.stringContaining('Check the URL')]);
  });

  test('a redirect is not followed with the key', async () => {
    const { sent, world } = server(
      () => new Response(null, { status: 302, headers: { location: 'https://b.test' } }),
    );
    expect((await saying(['runs', 'list'], world)).code).toBe(1);
    expect(sent).toHaveLength(1);
  });
});

describe('a list', () => {
  test('reads pages until it has the requested number', async () => {
    const page = (from: number, next?: string) => () =>
      Response.json({ items: [{ id: `s${from}` }, { id: `s${from + 1}` }], ...(next ? { next } : {}) });
    const { sent, world } = server(page(1, 'c1'), page(3, 'c2'), page(5));
    const { out } = await saying(['runs', 'steps', 'run_1', '--limit', '4', '--json'], world);
    expect((JSON.parse(out) as { id: string }[]).map(({ id }) => id)).toEqual(['s1', 's2', 's3', 's4']);
    expect(sent.map(({ url }) => new URL(url).search)).toEqual(['?limit=4', '?limit=2&cursor=c1']);
  });
});

test('Ctrl-C exits with 130 and prints nothing', async () => {
  const { world } = server(nobody);
  world.interrupt();
  expect(await saying(CANCEL, world)).toEqual({ code: 130, out: '', err: '' });
});
