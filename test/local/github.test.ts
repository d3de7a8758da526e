import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from '@jest/globals';
import { request } from '@octokit/request';
import { startGithubServer } from '../../packages/local/src/github/server.ts';
import type { StandInServer } from '../../packages/local/src/stand-in/server.ts';
import { movableClock } from '../../packages/local-kit/src/time/clock.ts';

const TOKEN = 't0ken';
const MARK = 'b'.repeat(64);
const SHA = 'c'.repeat(40);
const began = Date.UTC(2026, 0, 1);
const ISSUE = { owner: 'acme', repo: 'uploader', issue_number: 7 };

const servers: StandInServer[] = [];
afterEach(async () => {
  await Promise.all(servers.map((server) => server.stop()));
  servers.length = 0;
});

async function start(storage: Parameters<typeof startGithubServer>[0]['storage'] = { kind: 'memory' }) {
  const clock = movableClock(() => began);
  const server = await startGithubServer({ storage, clock, token: TOKEN });
  servers.push(server);
  const octokit = request.defaults({ baseUrl: server.url, headers: { authorization: `Bearer ${TOKEN}` } });
  return { server, octokit, clock };
}

/** The status and message of a refusal. */
async function refusal(call: Promise<unknown>): Promise<[number, string] | 'no answer'> {
  try {
    await call;
  } catch (error) {
    const { status, response, message } = error as { status: number; response?: object; message: string };
    return response ? [status, message] : 'no answer';
  }
  throw new Error('the call was accepted');
}

const comments = 'GET /repos/{owner}/{repo}/issues/{issue_number}/comments';
const comment = 'POST /repos/{owner}/{repo}/issues/{issue_number}/comments';

describe('created objects can be read', () => {
  test('a comment is listed, read, updated and deleted', async () => {
    const { octokit } = await start();
    const { data } = await octokit(comment, { ...ISSUE, body: 'One.' });
    expect(data).toMatchObject({ body: 'One.', user: { type: 'Bot' }, created_at: '2026-01-01T00:00:00Z' });
    const one = { ...ISSUE, comment_id: data.id };
    await octokit('PATCH /repos/{owner}/{repo}/issues/comments/{comment_id}', { ...one, body: 'Two.' });
    expect((await octokit('GET /repos/{owner}/{repo}/issues/comments/{comment_id}', one)).data.body).toBe(
      'Two.',
    );
    expect((await octokit(comments, ISSUE)).data.map(({ body }) => body)).toEqual(['Two.']);
    expect((await octokit(comments, { ...ISSUE, issue_number: 8 })).data).toEqual([]);
    await octokit('DELETE /repos/{owner}/{repo}/issues/comments/{comment_id}', one);
    expect((await octokit(comments, ISSUE)).data).toEqual([]);
    expect(await refusal(octokit('GET /repos/{owner}/{repo}/issues/comments/{comment_id}', one))).toEqual([
      404,
      'Not Found',
    ]);
  });

  test('lists are paginated with links to the next page', async () => {
    const { octokit } = await start();
    for (let i = 0; i < 5; i += 1) await octokit(comment, { ...ISSUE, body: `${i}` });
    const first = await octokit(comments, { ...ISSUE, per_page: 2 });
    expect(first.data.map(({ body }) => body)).toEqual(['0', '1']);
    expect(first.headers.link).toMatch(/[?&]page=2>; rel="next".*[?&]page=3>; rel="last"/);
    const last = await octokit(comments, { ...ISSUE, per_page: 2, page: 3 });
    expect([last.data.map(({ body }) => body), last.headers.link]).toEqual([['4'], undefined]);
  });

  test('all statuses are kept, newest first', async () => {
    const { octokit } = await start();
    const of = { owner: 'acme', repo: 'uploader', sha: SHA, context: 'ci' };
    for (const state of ['pending', 'success'] as const)
      await octokit('POST /repos/{owner}/{repo}/statuses/{sha}', { ...of, state });
    const { data } = await octokit('GET /repos/{owner}/{repo}/commits/{ref}/statuses', { ...of, ref: SHA });
    expect(data.map(({ state }) => state)).toEqual(['success', 'pending']);
  });

  test('labels are a case-insensitive set', async () => {
    const { octokit } = await start();
    const add = 'POST /repos/{owner}/{repo}/issues/{issue_number}/labels';
    await octokit(add, { ...ISSUE, labels: ['bug', 'size/S'] });
    const { data } = await octokit(add, { ...ISSUE, labels: ['Bug', 'docs'] });
    expect(data.map(({ name }) => name)).toEqual(['bug', 'size/S', 'docs']);
    const remove = 'DELETE /repos/{owner}/{repo}/issues/{issue_number}/labels/{name}';
    expect((await octokit(remove, { ...ISSUE, name: 'size/S' })).data.map(({ name }) => name)).toEqual([
      'bug',
      'docs',
    ]);
    expect(await refusal(octokit(remove, { ...ISSUE, name: 'size/S' }))).toEqual([
      404,
      'Label does not exist',
    ]);
  });

  test('check runs are created, updated, and found by commit and name', async () => {
    const { octokit } = await start();
    const repo = { owner: 'acme', repo: 'uploader' };
    const made = await octokit('POST /repos/{owner}/{repo}/check-runs', {
      ...repo,
      name: 'review',
      head_sha: SHA,
      external_id: MARK,
    });
    expect(made.data).toMatchObject({ status: 'queued', conclusion: null });
    await octokit('PATCH /repos/{owner}/{repo}/check-runs/{check_run_id}', {
      ...repo,
      check_run_id: made.data.id,
      conclusion: 'success',
    });
    await octokit('POST /repos/{owner}/{repo}/check-runs', { ...repo, name: 'other', head_sha: SHA });
    const list = 'GET /repos/{owner}/{repo}/commits/{ref}/check-runs';
    const { data } = await octokit(list, { ...repo, ref: SHA, check_name: 'review' });
    expect(data).toMatchObject({
      total_count: 1,
      check_runs: [{ external_id: MARK, status: 'completed', conclusion: 'success' }],
    });
    expect((await octokit(list, { ...repo, ref: SHA })).data.total_count).toBe(2);
  });

  test('all objects and counts survive a restart of the server', async () => {
    const file = join(mkdtempSync(join(tmpdir(), 'cairn-github-')), 'github.sqlite');
    const before = await start({ kind: 'sqlite', file });
    await before.octokit(comment, { ...ISSUE, body: `One. <!-- ${MARK} -->` });
    await before.server.stop();
    servers.length = 0;
    const after = await start({ kind: 'sqlite', file });
    expect((await after.octokit(comments, ISSUE)).data).toHaveLength(1);
    expect(after.server.applied()).toEqual({ [MARK]: 1 });
    expect(after.server.calls().map(({ route }) => route)).toEqual([comment, comments]);
  });
});

describe('what GitHub would refuse is refused', () => {
  test.each([
    ['an empty comment', { body: ' ' }, 'Body cannot be blank'],
    ['a comment that is too long', { body: 'x'.repeat(65_537) }, 'body is too long'],
    ['a comment without text', {}, 'Body cannot be blank'],
  ])('%s', async (_what, body, message) => {
    const { octokit, server } = await start();
    const [status, said] = await refusal(octokit(comment, { ...ISSUE, ...(body as { body: string }) }));
    expect([status, said]).toEqual([422, expect.stringContaining(message)]);
    expect(server.calls()).toMatchObject([{ status: 422, applied: false }]);
  });

  test.each([
    [{ state: 'fine' }, /State is not included/],
    [{ state: 'success', description: 'x'.repeat(141) }, /description is too long/],
    [{ state: 'success', target_url: 'javascript:alert(1)' }, /target_url must use http/],
  ])('a status %j', async (body, message) => {
    const { octokit } = await start();
    const path = `/repos/acme/uploader/statuses/${SHA}`;
    const [status, said] = await refusal(octokit(`POST ${path}`, body));
    expect([status, said]).toEqual([422, expect.stringMatching(message)]);
  });

  test.each([
    [{ name: 'review' }, /No commit found/],
    [{ head_sha: SHA }, /name/],
    [{ name: 'review', head_sha: SHA, status: 'completed' }, /conclusion/],
    [{ name: 'review', head_sha: SHA, conclusion: 'great' }, /conclusion/],
  ])('a check run %j', async (body, message) => {
    const { octokit } = await start();
    const [status, said] = await refusal(octokit('POST /repos/acme/uploader/check-runs', body));
    expect([status, said]).toEqual([422, expect.stringMatching(message)]);
  });

  test('a wrong token, and a change without a token; reading needs none', async () => {
    const { server } = await start();
    const path = `${server.url}/repos/acme/uploader/issues/7/comments`;
    const send = (method: string, headers: Record<string, string>) =>
      fetch(path, { method, headers, ...(method === 'POST' ? { body: '{"body":"x"}' } : {}) });
    expect((await send('POST', {})).status).toBe(401);
    expect((await send('POST', { authorization: 'Bearer other' })).status).toBe(401);
    expect((await send('GET', { authorization: 'Bearer other' })).status).toBe(401);
    expect((await send('GET', {})).status).toBe(200);
    expect((await send('POST', { authorization: `token ${TOKEN}` })).status).toBe(201);
    expect((await send('POST', { authorization: `token ${TOKEN}`, origin: 'https://evil' })).status).toBe(
      403,
    );
  });

  test('an unsupported route says so', async () => {
    const { octokit } = await start();
    const [status] = await refusal(octokit('GET /repos/acme/uploader/pulls'));
    expect(status).toBe(501);
  });

  test('a body that is not JSON', async () => {
    const { server } = await start();
    const answer = await fetch(`${server.url}/repos/acme/uploader/issues/7/comments`, {
      method: 'POST',
      headers: { authorization: `Bearer ${TOKEN}` },
      body: '{',
    });
    expect([answer.status, await answer.json()]).toEqual([400, { message: 'Problems parsing JSON' }]);
  });
});

describe('faults on request', () => {
  const body = `Hi <!-- ${MARK} -->`;

  test.each([
    ['refuse', { kind: 'refuse', status: 503 }, [503, 'refused on request'], 0],
    ['fail-after', { kind: 'fail-after', status: 502 }, [502, 'failed on request'], 1],
    ['cut-before', { kind: 'cut-before' }, 'no answer', 0],
    ['lost-answer', { kind: 'lost-answer' }, 'no answer', 1],
    ['rate-limit', { kind: 'rate-limit', status: 403 }, [403, 'API rate limit exceeded'], 0],
  ] as const)('%s: the answer, and the number of applied calls', async (kind, fault, answered, applied) => {
    const { octokit, server } = await start();
    server.faults.set([{ call: comment, probability: 1, times: 1, fault }], 1);
    expect(await refusal(octokit(comment, { ...ISSUE, body }))).toEqual(answered);
    expect(server.applied()).toEqual(applied === 0 ? {} : { [MARK]: applied });
    expect((await octokit(comments, ISSUE)).data).toHaveLength(applied);
    expect(server.calls()[0]).toMatchObject({ fault: kind, applied: applied === 1, marker: MARK });
    await octokit(comment, { ...ISSUE, body });
    expect(server.applied()).toEqual({ [MARK]: applied + 1 });
  });

  test.each([
    ['hang-before', 0],
    ['hang-after', 1],
  ] as const)('%s: nobody is answered', async (kind, applied) => {
    const { octokit, server } = await start();
    server.faults.set([{ probability: 1, times: 1, fault: { kind } }], 1);
    const given = new AbortController();
    const call = refusal(octokit(comment, { ...ISSUE, body, request: { signal: given.signal } }));
    while (server.calls().length === 0) await new Promise((resolve) => setTimeout(resolve, 2));
    given.abort();
    expect(await call).toBe('no answer');
    expect(server.applied()).toEqual(applied === 0 ? {} : { [MARK]: applied });
  });

  test.each([
    [{ status: 429, retryAfterS: 7 } as const, { 'retry-after': '7' }],
    [
      { status: 403 } as const,
      { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(began / 1000 + 1) },
    ],
  ])('a limit %j says when it ends', async (limit, headers) => {
    const { octokit, server } = await start();
    server.faults.set([{ probability: 1, fault: { kind: 'rate-limit', ...limit } }], 1);
    const error = await octokit(comments, ISSUE).catch((error: unknown) => error);
    expect(error).toMatchObject({ status: limit.status, response: { headers } });
  });

  test('delayed responses wait for the clock', async () => {
    const { octokit, server, clock } = await start();
    server.faults.set([{ probability: 1, fault: { kind: 'latency', ms: 60_000 } }], 1);
    const answer = octokit(comments, ISSUE);
    while (server.faults.injected().latency === undefined)
      await new Promise((resolve) => setTimeout(resolve, 2));
    clock.advance(60_000);
    expect((await answer).status).toBe(200);
  });
});

test('the calls are listed over HTTP, and the limits are those of GitHub', async () => {
  const { octokit, server } = await start();
  await octokit(comment, { ...ISSUE, body: MARK });
  const response = (await (await fetch(`${server.url}/__calls`)).json()) as {
    calls: unknown[];
    applied: object;
  };
  expect(response).toMatchObject({
    calls: [{ n: 1, route: comment, status: 201, applied: true }],
    applied: { [MARK]: 1 },
  });
  const { data, headers } = await octokit('GET /rate_limit');
  expect([data.rate.limit, headers['x-ratelimit-limit']]).toEqual([5_000, '5000']);
});
