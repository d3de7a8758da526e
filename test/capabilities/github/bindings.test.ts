import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { GithubApi } from '../../../packages/cairn/src/capabilities/github/api.ts';
import { githubBindings } from '../../../packages/cairn/src/capabilities/github/bindings.ts';
import { addLabels, removeLabel } from '../../../packages/cairn/src/capabilities/github/labels.ts';
import { NotApplied } from '../../../packages/cairn/src/core/errors.ts';
import { startGithubServer } from '../../../packages/local/src/github/server.ts';
import type { StandInFault } from '../../../packages/local/src/stand-in/faults.ts';
import type { StandInServer } from '../../../packages/local/src/stand-in/server.ts';
import { movableClock } from '../../../packages/local-kit/src/time/clock.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';
import { thrownBy } from '../scripted-server.ts';

const TOKEN = 't0ken';
const REPOSITORY = 'acme/uploader';
const SHA = 'd'.repeat(40);
const KEYS = ['1', '2'].map((digit) => digit.repeat(64)) as [string, string];

let server: StandInServer;
let bindings: ReturnType<typeof githubBindings>;
beforeAll(async () => {
  server = await startGithubServer({
    storage: { kind: 'memory' },
    clock: movableClock(() => Date.UTC(2026, 0, 1)),
    token: TOKEN,
  });
  const clock = new VirtualClock();
  bindings = githubBindings(new GithubApi({ baseUrl: server.url, token: () => TOKEN, clock, settleMs: 0 }));
});
afterAll(() => server.stop());
beforeEach(() => server.faults.clear());

function bindingOf(id: string) {
  const binding = bindings.find(({ capability }) => capability.id === id);
  if (!binding) throw new Error(`${id} is not bound`);
  return binding;
}

const optionsFor = (idempotencyKey: string) => ({
  idempotencyKey,
  signal: new AbortController().signal,
  attemptedAt: 0,
});

/** Each needs a place of its own, as all of them share the stand-in. */
const REQUESTS: readonly [string, (n: number) => Record<string, unknown>][] = [
  ['github.create-comment', (n) => ({ repository: REPOSITORY, number: n, body: 'Well done.' })],
  [
    'github.set-commit-status',
    (n) => ({
      repository: REPOSITORY,
      sha: String(n).padStart(40, 'a'),
      context: 'cairn/review',
      state: 'success',
      description: 'go ahead',
      targetUrl: 'https://github.com/acme/uploader/pull/7?a=b#issuecomment-1',
    }),
  ],
  [
    'github.create-check-run',
    (n) => ({
      repository: REPOSITORY,
      sha: String(n).padStart(40, 'b'),
      name: 'review',
      conclusion: 'neutral',
      title: 'Look closely',
      summary: 'It is large.',
      detailsUrl: 'https://example.com/',
    }),
  ],
];
let place = 0;

describe.each(REQUESTS)('%s, for which GitHub accepts no key', (id, requestAt) => {
  const fresh = () => {
    const binding = bindingOf(id);
    place += 1;
    const request = requestAt(place);
    expect(binding.capability.request.safeParse(request).success).toBe(true);
    return {
      call: (key: string) => binding.call(request, optionsFor(key)),
      look: (key: string) => binding.lookup?.(request, optionsFor(key)),
    };
  };

  test('is found by its key, and by no other', async () => {
    const { call, look } = fresh();
    expect(await look(KEYS[0])).toEqual({ found: false });
    const response = await call(KEYS[0]);
    expect(await look(KEYS[0])).toEqual({ found: true, response });
    expect(await look(KEYS[1])).toEqual({ found: false });
    const second = await call(KEYS[1]);
    expect(await look(KEYS[1])).toEqual({ found: true, response: second });
    expect(second).not.toEqual(response);
  });

  test.each<[StandInFault, boolean]>([
    [{ kind: 'lost-answer' }, true],
    [{ kind: 'fail-after', status: 502 }, true],
    [{ kind: 'cut-before' }, false],
    [{ kind: 'refuse', status: 500 }, false],
  ])('after %j is in doubt, and a lookup decides: %s', async (fault, found) => {
    const { call, look } = fresh();
    server.faults.set([{ probability: 1, times: 1, fault }], 1);
    expect(await thrownBy(call(KEYS[0]))).not.toBeInstanceOf(NotApplied);
    expect(await look(KEYS[0])).toMatchObject({ found });
  });

  test('that a limit refuses was not applied, and says when to retry', async () => {
    const { call, look } = fresh();
    server.faults.set(
      [{ probability: 1, times: 1, fault: { kind: 'rate-limit', status: 403, retryAfterS: 9 } }],
      1,
    );
    expect(await thrownBy(call(KEYS[0]))).toMatchObject({ name: 'NotApplied', retryAt: expect.any(Number) });
    expect(await look(KEYS[0])).toEqual({ found: false });
  });

  test('is found among more than a page of others', async () => {
    const { call, look } = fresh();
    const first = await call(KEYS[0]);
    for (let i = 0; i < 100; i += 1) await call(i.toString(16).padStart(64, 'e'));
    expect(await look(KEYS[0])).toEqual({ found: true, response: first });
  });
});

describe('labels, where a repetition changes nothing', () => {
  const issue = { repository: REPOSITORY, number: 4_000 };
  const add = (labels: readonly string[]) =>
    bindingOf(addLabels.id).call({ ...issue, labels }, optionsFor(KEYS[0]));
  const remove = (label: string) => bindingOf(removeLabel.id).call({ ...issue, label }, optionsFor(KEYS[0]));

  test('are added to the present ones, once', async () => {
    expect(await add(['bug', 'size/S'])).toEqual({ labels: ['bug', 'size/S'] });
    expect(await add(['bug', 'docs'])).toEqual({ labels: ['bug', 'size/S', 'docs'] });
  });

  test('are removed, even if they are already gone', async () => {
    expect(await remove('size/S')).toEqual({});
    expect(await remove('size/S')).toEqual({});
    expect(await add(['bug'])).toEqual({ labels: ['bug', 'docs'] });
  });

  test('are not reported as gone if the issue cannot be read', async () => {
    server.faults.set([{ probability: 1, fault: { kind: 'refuse', status: 404, message: 'Not Found' } }], 1);
    expect(await thrownBy(remove('docs'))).toMatchObject({ name: 'NotApplied', final: true });
  });

  test.each(['.', '..', '', 'x'.repeat(51)])('a label %j is refused', (label) => {
    expect(removeLabel.request.safeParse({ ...issue, label }).success).toBe(false);
    expect(addLabels.request.safeParse({ ...issue, labels: [label] }).success).toBe(false);
  });
});

test('the link of a status is unchanged', async () => {
  const [, requestAt] = REQUESTS[1] ?? [];
  const request = { ...requestAt?.(9_999), sha: SHA };
  await bindingOf('github.set-commit-status').call(request, optionsFor(KEYS[0]));
  const answer = await fetch(`${server.url}/repos/${REPOSITORY}/commits/${SHA}/statuses`);
  const [status] = (await answer.json()) as { target_url: string }[];
  const url = new URL(status?.target_url ?? '');
  expect([url.pathname, url.hash, url.searchParams.get('a')]).toEqual([
    '/acme/uploader/pull/7',
    '#issuecomment-1',
    'b',
  ]);
});

test('every capability of GitHub is bound once, with its own replay policy', () => {
  const stories = bindings.map(({ capability, lookup }) => [
    capability.id,
    capability.idempotency,
    lookup !== undefined,
  ]);
  expect(stories).toEqual([
    ['github.create-comment', 'not_supported', true],
    ['github.set-commit-status', 'not_supported', true],
    ['github.add-labels', 'required', false],
    ['github.remove-label', 'required', false],
    ['github.create-check-run', 'not_supported', true],
  ]);
});
