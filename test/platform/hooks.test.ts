import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { Hook } from '../../functions/src/hooks/hook.ts';
import { outsideOf } from '../../functions/src/hooks/hooks.ts';
import { shippedWorkflows } from '../../functions/src/workflows/index.ts';
import { Fatal } from '../../packages/cairn/src/core/errors.ts';
import { hookUrls } from '../../packages/cairn/src/platform/settings/outside.ts';
import { createTestRuntime, expectJournal } from '../../packages/cairn/src/testing/index.ts';

interface Received {
  readonly key: string | undefined;
  readonly type: string | undefined;
  readonly body: Readonly<Record<string, unknown>>;
}

let server: Server;
let url: string;
let received: Received[];
/** Responses to the next calls. The last one repeats. */
let answers: { readonly status: number; readonly text: string; readonly location?: string }[];

beforeAll(async () => {
  server = createServer(async (request, response) => {
    const chunks: Uint8Array[] = [];
    for await (const chunk of request) chunks.push(chunk as Uint8Array);
    const { 'idempotency-key': key, 'content-type': type } = request.headers;
    received.push({
      key: key as string | undefined,
      type,
      body: JSON.parse(Buffer.concat(chunks).toString()) as Received['body'],
    });
    const answer = answers.length > 1 ? answers.shift() : answers[0];
    response.writeHead(answer?.status ?? 200, answer?.location ? { location: answer.location } : {});
    response.end(answer?.text ?? '');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook?token=s3cret`;
});
afterAll(() => new Promise((resolve) => server.close(resolve)));
beforeEach(() => {
  received = [];
  answers = [{ status: 200, text: '{"healthy":true,"exists":false}' }];
});

const CALL = { key: 'run/step', signal: new AbortController().signal };

describe('a hook', () => {
  test('is called once, with the key and the body', async () => {
    expect(await new Hook('it', url).call({ action: 'lock' }, CALL)).toEqual({
      healthy: true,
      exists: false,
    });
    expect(received).toEqual([{ key: 'run/step', type: 'application/json', body: { action: 'lock' } }]);
  });

  test.each([
    ['', {}],
    ['done', {}],
    ['[1]', {}],
    ['null', {}],
    ['{"a":1}', { a: 1 }],
  ])('that answers %j has the result %j', async (text, members) => {
    answers = [{ status: 204 + (text === '' ? 0 : -4), text }];
    expect(await new Hook('it', url).call({}, CALL)).toEqual(members);
  });

  test.each([400, 401, 403, 404, 410, 422])('that answers %i is not called again', async (status) => {
    answers = [{ status, text: 'no' }];
    await expect(new Hook('it', url).call({}, CALL)).rejects.toThrow(Fatal);
    await expect(new Hook('it', url).call({}, CALL)).rejects.toThrow(`it answered ${status}`);
  });

  test.each([408, 409, 423, 425, 429, 500, 503])('that answers %i may be called again', async (status) => {
    answers = [{ status, text: 'later' }];
    const error: unknown = await new Hook('it', url).call({}, CALL).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(Error);
    expect(error).not.toBeInstanceOf(Fatal);
  });

  test('that redirects is not followed', async () => {
    answers = [{ status: 307, text: '', location: url }];
    await expect(new Hook('it', url).call({}, CALL)).rejects.toThrow('it answered 307');
    expect(received).toHaveLength(1);
  });

  test('whose answer never ends is cut off', async () => {
    answers = [{ status: 200, text: 'x'.repeat(100_000) }];
    await expect(new Hook('it', url).call({}, CALL)).rejects.toThrow(/more than 65536 bytes/);
  });

  test('that is unreachable or aborted may be called again; the URL stays secret', async () => {
    const error: unknown = await new Hook('it', 'http://127.0.0.1:1/?token=s3cret')
      .call({}, CALL)
      .catch((thrown: unknown) => thrown);
    expect(error).not.toBeInstanceOf(Fatal);
    expect(String(error)).toBe('Error: it could not be reached');
    const stopped = { ...CALL, signal: AbortSignal.abort() };
    await expect(new Hook('it', url).call({}, stopped)).rejects.toThrow('it could not be reached');
  });
});

describe('the URLs of the hooks', () => {
  const NAMES = ['DEPLOY_HOOK_URL', 'CLEANUP_HOOK_URL'] as const;
  const before = NAMES.map((name) => process.env[name]);
  afterEach(() => {
    NAMES.forEach((name, i) => {
      if (before[i] === undefined) delete process.env[name];
      else process.env[name] = before[i];
    });
  });

  test('are those of the parameters, and absent where they are empty', () => {
    process.env.DEPLOY_HOOK_URL = 'https://deploy.example/hook?token=s3cret';
    process.env.CLEANUP_HOOK_URL = '';
    expect(hookUrls()).toEqual({ deploy: 'https://deploy.example/hook?token=s3cret', cleanup: undefined });
  });

  test.each(['deploy.example', 'ftp://deploy.example', 'http://'])('are not %s', (text) => {
    process.env.CLEANUP_HOOK_URL = text;
    expect(() => hookUrls()).toThrow(new Error('CLEANUP_HOOK_URL is not an http or https URL'));
  });
});

describe('the shipped workflows over hooks', () => {
  test.each([
    [{ deploy: undefined, cleanup: undefined }, []],
    [{ deploy: 'http://d', cleanup: undefined }, ['deploy']],
    [{ deploy: undefined, cleanup: 'http://c' }, ['nightly-cleanup']],
    [{ deploy: 'http://d', cleanup: 'http://c' }, ['deploy', 'nightly-cleanup']],
  ])('configured as %j are, beside the review: %j', (urls, types) => {
    const there = shippedWorkflows(outsideOf(urls)).map(({ type }) => type);
    expect(there).toEqual(['review-pull-request', 'review-pull-request', ...types]);
  });

  test('deploy, although a hook is unreachable for a moment', async () => {
    const runtime = createTestRuntime({
      workflows: shippedWorkflows(outsideOf({ deploy: url, cleanup: undefined })),
      patienceMs: 30_000,
    });
    answers = [
      { status: 200, text: '{"healthy":true}' },
      { status: 503, text: '' },
      { status: 423, text: 'locked' },
      { status: 200, text: '{"healthy":true,"detail":"3 of 3"}' },
    ];
    const sha = 'a'.repeat(40);
    const run = await runtime.start('deploy', {
      service: 'shop',
      environment: 'staging',
      version: '2',
      previousVersion: '1',
      sha,
    });
    await runtime.settle();
    await runtime.deliver({ event: 'ci.finished', key: sha, data: { conclusion: 'success' } });
    expect(await runtime.runToEnd(run)).toBe('completed');
    expect(received.map(({ body }) => body.action)).toEqual([
      'health',
      'lock',
      'lock',
      'lock',
      'release',
      'health',
      'unlock',
    ]);
    const keys = received.filter(({ body }) => body.action === 'lock').map(({ key }) => key);
    expect(new Set(keys)).toEqual(new Set([`${run.id}/lock`]));
    expect(received.find(({ body }) => body.action === 'release')?.body).toEqual({
      action: 'release',
      service: 'shop',
      environment: 'staging',
      version: '2',
    });
    expectJournal(run.journal()).toHaveRun('lock', 3);
  });

  test('clean up, and fail if the hook omits a required member of its response', async () => {
    const outside = outsideOf({ deploy: undefined, cleanup: url });
    const runtime = createTestRuntime({ workflows: shippedWorkflows(outside), patienceMs: 30_000 });
    const items = [{ id: 'fix/ü', kind: 'branch', lastUsedAt: '2020-01-01T00:00:00Z' }];
    const run = await runtime.start('nightly-cleanup', { items, asOf: '2026-01-01T00:00:00Z' });
    expect(await runtime.runToEnd(run)).toBe('completed');
    expect(received.map(({ body, key }) => [body, key])).toEqual([
      [{ action: 'remove', id: 'fix/ü', kind: 'branch' }, `${run.id}/remove/fix%2F%C3%BC`],
      [{ action: 'exists', id: 'fix/ü', kind: 'branch' }, `${run.id}/look-again/fix%2F%C3%BC`],
    ]);
    answers = [{ status: 200, text: '{}' }];
    const call = { key: 'k', signal: new AbortController().signal };
    const item = { id: 'b', kind: 'branch', lastUsedAt: '', isProtected: false };
    await expect(outside.janitor?.exists(item, call)).rejects.toThrow(/must have 'exists'/);
  });
});

describe('the cleanup hook', () => {
  const list = () => outsideOf({ deploy: undefined, cleanup: url }).janitor?.list(CALL);

  test('is asked for the list of candidates', async () => {
    const item = { id: 'a', kind: 'branch', lastUsedAt: '2026-01-01T00:00:00Z' };
    answers = [{ status: 200, text: JSON.stringify({ items: [item] }) }];
    expect(await list()).toEqual([{ ...item, isProtected: false }]);
    expect(received).toMatchObject([{ key: CALL.key, body: { action: 'list' } }]);
  });

  test.each(['{}', '{"items":{}}', '{"items":[{"id":"a"}]}'])('that lists %s is refused', async (text) => {
    answers = [{ status: 200, text }];
    await expect(list()).rejects.toThrow(Fatal);
  });
});
