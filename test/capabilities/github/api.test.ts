import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { GithubApi } from '../../../packages/cairn/src/capabilities/github/api.ts';
import {
  createComment,
  createCommentBinding,
} from '../../../packages/cairn/src/capabilities/github/create-comment.ts';
import { NotApplied } from '../../../packages/cairn/src/core/errors.ts';
import { until } from '../../local/support.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';
import { deadUrl, type ScriptedServer, startScriptedServer, thrownBy } from '../scripted-server.ts';

const KEY = 'a'.repeat(64);
const REQUEST = { repository: 'acme/uploader', number: 7, body: 'Well done.' };
const MADE = {
  status: 201,
  body: { id: 3, html_url: 'https://github.com/acme/uploader/pull/7#issuecomment-3' },
};

let server: ScriptedServer;
let clock: VirtualClock;
beforeAll(async () => {
  server = await startScriptedServer();
});
afterAll(() => server.stop());
beforeEach(() => {
  clock = new VirtualClock();
  server.asked.length = 0;
  server.answers = [MADE];
});

interface Options {
  readonly baseUrl?: string;
  readonly token?: string | null;
  readonly settleMs?: number;
}

function binding({ baseUrl = server.url, token = 't0ken', settleMs = 0 }: Options = {}) {
  return createCommentBinding(new GithubApi({ baseUrl, token: () => token ?? undefined, clock, settleMs }));
}

function call(options: Options = {}, signal = new AbortController().signal) {
  return binding(options).call(REQUEST, { idempotencyKey: KEY, signal });
}

function look(options: Options & { readonly agoMs?: number } = {}, signal = new AbortController().signal) {
  const lookupCall = { idempotencyKey: KEY, signal, attemptedAt: clock.now() - (options.agoMs ?? 0) };
  return binding(options).lookup?.(REQUEST, lookupCall) ?? Promise.reject(new Error());
}

function advance(ms: number): void {
  const end = clock.now() + ms;
  while (clock.fireNext(end));
  clock.jump(end - clock.now());
}

/** Meaning of a binding's error for the ledger. */
function meaning(error: Error): string {
  if (!(error instanceof NotApplied)) return 'in doubt';
  return error.final ? 'never' : 'not applied';
}

describe('a request', () => {
  test('has the token, and the version of the API it was written for', async () => {
    await call();
    expect(server.asked).toHaveLength(1);
    expect(server.asked[0]).toMatchObject({
      method: 'POST',
      path: '/repos/acme/uploader/issues/7/comments',
      headers: {
        authorization: 'Bearer t0ken',
        'user-agent': 'cairn',
        'x-github-api-version': '2022-11-28',
      },
    });
  });

  test('is never sent without a token', async () => {
    expect(meaning(await thrownBy(call({ token: null })))).toBe('never');
    expect(server.asked).toEqual([]);
  });

  test.each([
    ['did not respond', new Error('no response'), 'not applied'],
    ['failed', { status: 502, headers: {} }, 'not applied'],
    ['is limited', { status: 429, headers: {} }, 'not applied'],
    ['knows no such installation', { status: 404, headers: {} }, 'never'],
  ])('whose token could not be made, because its issuer %s, is not sent', async (_why, cause, means) => {
    const error = cause instanceof Error ? cause : Object.assign(new Error('refused'), { response: cause });
    const token = () => Promise.reject(error);
    const made = createCommentBinding(new GithubApi({ baseUrl: server.url, token, clock, settleMs: 0 }));
    const { signal } = new AbortController();
    expect(meaning(await thrownBy(made.call(REQUEST, { idempotencyKey: KEY, signal })))).toBe(means);
    expect(server.asked).toEqual([]);
  });

  test('that was aborted before is not sent', async () => {
    expect(meaning(await thrownBy(call({}, AbortSignal.abort())))).toBe('not applied');
    expect(server.asked).toEqual([]);
  });

  test('to an unreachable server was definitely not applied', async () => {
    expect(meaning(await thrownBy(call({ baseUrl: await deadUrl() })))).toBe('not applied');
  });

  test('whose connection broke after it was sent is in doubt', async () => {
    server.answers = ['cut'];
    expect(meaning(await thrownBy(call()))).toBe('in doubt');
  });

  test('that was aborted after it was sent is in doubt', async () => {
    server.answers = ['hang'];
    const body = new AbortController();
    const thrown = thrownBy(call({}, body.signal));
    await until(() => server.asked.length === 1, 'the request');
    body.abort();
    expect(meaning(await thrown)).toBe('in doubt');
  });

  test('that gets no answer in 20 s is in doubt', async () => {
    server.answers = ['hang'];
    const thrown = thrownBy(call());
    await until(() => server.asked.length === 1, 'the request');
    advance(20_000);
    expect(meaning(await thrown)).toBe('in doubt');
  });

  test('that is redirected does not follow, and says so', async () => {
    server.answers = [{ status: 307, headers: { location: `${server.url}/repositories/1` } }];
    const error = await thrownBy(call());
    expect([meaning(error), error.message]).toEqual(['never', expect.stringContaining('307')]);
    expect(server.asked).toHaveLength(1);
  });

  test('that succeeds without a comment is in doubt', async () => {
    server.answers = [{ status: 200, body: '<html>a proxy says hello</html>' }];
    expect(meaning(await thrownBy(call()))).toBe('in doubt');
  });

  test('that is refused has the message of GitHub, and neither token nor body', async () => {
    server.answers = [{ status: 422, body: { message: 'Validation Failed' } }];
    const error = await thrownBy(call());
    expect(error.message).toBe('GitHub answered 422 to a comment on acme/uploader#7: Validation Failed');
    expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toContain('t0ken');
  });
});

describe('a lookup', () => {
  const page = (count: number, body = 'other') => ({
    status: 200,
    body: Array.from({ length: count }, (_, id) => ({ id, body, html_url: `https://x/${id}` })),
  });
  const marked = {
    status: 200,
    body: [{ id: 9, html_url: 'https://x/9', body: `Hi <!-- cairn-effect: ${KEY} -->` }],
  };

  test('reads pages until it has found the mark', async () => {
    server.answers = [page(100), page(100), marked];
    expect(await look()).toEqual({ found: true, response: { id: 9, url: 'https://x/9' } });
    expect(server.asked.map(({ path }) => new URLSearchParams(path.split('?')[1]).get('page'))).toEqual([
      '1',
      '2',
      '3',
    ]);
  });

  test('without a result is repeated when a request under way would have ended', async () => {
    server.answers = [page(0), marked];
    const found = look({ settleMs: 15_000 });
    await until(() => clock.nextAt === clock.now() + 15_000, 'the pause');
    advance(14_999);
    expect(server.asked).toHaveLength(1);
    advance(1);
    expect(await found).toMatchObject({ found: true });
  });

  test('waits only for the rest of that time', async () => {
    server.answers = [page(0), marked];
    const found = look({ settleMs: 15_000, agoMs: 14_000 });
    await until(() => clock.nextAt === clock.now() + 1_000, 'the pause');
    advance(1_000);
    expect(await found).toMatchObject({ found: true });
    server.answers = [page(0)];
    expect(await look({ settleMs: 15_000, agoMs: 15_000 })).toEqual({ found: false });
    expect(server.asked).toHaveLength(3);
  });

  test('reports absence only after it was repeated', async () => {
    server.answers = [page(0)];
    const found = look({ settleMs: 15_000 });
    await until(() => clock.nextAt === clock.now() + 15_000, 'the pause');
    advance(15_000);
    expect(await found).toEqual({ found: false });
    expect(server.asked).toHaveLength(2);
  });

  test('is undecided if there are more pages than it reads', async () => {
    server.answers = [page(100)];
    expect(await thrownBy(look())).not.toBeInstanceOf(NotApplied);
    expect(server.asked).toHaveLength(26);
  });

  test.each([
    ['is refused', { status: 404, body: { message: 'Not Found' } }],
    ['is sent elsewhere', { status: 301, headers: { location: '/elsewhere' } }],
    ['breaks', 'cut' as const],
  ])('that %s is undecided', async (_what, answer) => {
    server.answers = [answer];
    const error = await thrownBy(look());
    expect([error instanceof NotApplied, error.name]).toEqual([false, 'Error']);
  });

  test('that GitHub limits says when to repeat it', async () => {
    server.answers = [{ status: 429, headers: { 'retry-after': '30' } }];
    expect(await thrownBy(look())).toMatchObject({ name: 'RetryAt', at: clock.now() + 30_000 });
  });

  test('without a token is undecided too', async () => {
    expect(await thrownBy(look({ token: null }))).not.toBeInstanceOf(NotApplied);
  });
});

test.each([
  ['acme', 'no owner'],
  ['acme/..', 'another path'],
  ['acme/.', 'another path'],
  ['acme/up loader', 'a space'],
  ['acme/a/b', 'three parts'],
  ['../..', 'another path'],
  ['acme/x?y', 'a query'],
])('a repository %j is refused: %s', (repository) => {
  expect(createComment.request.safeParse({ ...REQUEST, repository }).success).toBe(false);
});
