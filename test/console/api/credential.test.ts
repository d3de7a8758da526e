import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { Api, planned } from '../../../packages/console/src/api/client.ts';

interface Sent {
  readonly method: string;
  readonly by: string;
}
type Behaviour = (sent: Sent) => Response | Promise<Response>;

const SIGNED_OUT = { title: 'Unauthorized', status: 401, code: 'UNAUTHENTICATED' };
const json = (status: number, body: object) => new Response(JSON.stringify(body), { status });
/** Answers of the API once the key `A` has expired. */
const expired: Behaviour = ({ by }) => (by === 'A' ? json(401, SIGNED_OUT) : json(200, {}));
const unreached: Behaviour = () => {
  throw new TypeError('network');
};

let sent: Sent[];
/** The answers to the next requests, in order; then `expired`. */
let next: Behaviour[];

beforeEach(() => {
  // Pauses between attempts.
  jest.useFakeTimers();
  sent = [];
  next = [];
  jest.spyOn(globalThis, 'fetch').mockImplementation(async (_, init) => {
    const by = new Headers(init?.headers).get('authorization')?.replace('Bearer ', '') ?? '';
    const one = { method: init?.method ?? 'GET', by };
    sent.push(one);
    return (next.shift() ?? expired)(one);
  });
});
afterEach(() => {
  jest.restoreAllMocks();
  jest.useRealTimers();
});

const signedIn = () =>
  new Api(
    async () => 'A',
    () => true,
  );
const CANCEL = planned('POST', '/v1/runs/{id}/cancel', { params: { id: 'run_1' }, body: {} });
const DRY_RUN = planned('POST', '/v1/runs/bulk', { body: { act: 'cancel', runs: ['run_1'], dryRun: true } });
const settled = (request: Promise<unknown>) =>
  request.then(
    (answer) => ({ answer }),
    (error: { problem: { code: string } }) => ({ code: error.problem.code, error }),
  );
const changesBy = (who: string) => sent.filter(({ method, by }) => method === 'POST' && by === who);

/** A read finds out that the key has expired, and waits. */
async function expire(api: Api): Promise<{ readonly read: Promise<unknown> }> {
  const read = api.get('/v1/me');
  await jest.advanceTimersByTimeAsync(1);
  return { read };
}

describe('no change of one person is sent as the next', () => {
  test('one that begins while the sign-in is asked for is not done', async () => {
    const api = signedIn();
    const { read } = await expire(api);
    const change = settled(api.change(CANCEL, 'key'));
    await jest.advanceTimersByTimeAsync(1);
    api.signInAgain(async () => 'B');
    await read;
    expect(await change).toMatchObject({ code: 'UNAUTHENTICATED' });
    expect(sent.map(({ method }) => method)).toEqual(['GET', 'GET']);
  });

  test.each<[of: string, first: Behaviour, code: string]>([
    ['was not answered', unreached, 'UNREACHABLE'],
    ['failed in the API', () => json(503, { ...SIGNED_OUT, code: 'UNAVAILABLE' }), 'UNREACHABLE'],
    ['is still in progress', () => json(202, { status: 'in_flight' }), 'UNREACHABLE'],
    ['was rate limited', () => json(429, { ...SIGNED_OUT, code: 'RATE_LIMITED' }), 'UNAUTHENTICATED'],
  ])('one whose attempt before the sign-in %s is not repeated after it', async (_, first, code) => {
    const api = signedIn();
    next = [first];
    const change = settled(api.change(CANCEL, 'key'));
    await jest.advanceTimersByTimeAsync(1);
    const { read } = await expire(api);
    await jest.advanceTimersByTimeAsync(60_000);
    api.signInAgain(async () => 'B');
    await read;
    await jest.advanceTimersByTimeAsync(60_000);
    // It may have been carried out: only the latter was not.
    expect(await change).toMatchObject({ code });
    expect(changesBy('B')).toEqual([]);
  });

  test('one whose repetition finds the key expired says that it may have been carried out', async () => {
    const api = signedIn();
    next = [unreached];
    const change = settled(api.change(CANCEL, 'key'));
    await jest.advanceTimersByTimeAsync(60_000);
    expect(await change).toMatchObject({ code: 'UNREACHABLE' });
    expect(changesBy('A')).toHaveLength(2);
  });

  test('the later parts of one that began before the sign-in are not done', async () => {
    const api = signedIn();
    const change = api.changer();
    const { read } = await expire(api);
    api.signInAgain(async () => 'B');
    await read;
    expect(await settled(change(CANCEL, 'key'))).toMatchObject({ code: 'UNAUTHENTICATED' });
    expect(changesBy('B')).toEqual([]);
    await api.change(CANCEL, 'key');
    expect(changesBy('B')).toHaveLength(1);
  });
});

test('a question that changes nothing waits for the sign-in, as a read does', async () => {
  const api = signedIn();
  const first = api.preview(DRY_RUN);
  await jest.advanceTimersByTimeAsync(1);
  const second = api.preview(DRY_RUN);
  await jest.advanceTimersByTimeAsync(1);
  api.signInAgain(async () => 'B');
  await Promise.all([first, second]);
  expect(changesBy('B')).toHaveLength(2);
});

test('an API that lets the time of a request pass counts as lost', async () => {
  const passed = AbortSignal.abort(new DOMException('too long', 'TimeoutError'));
  jest.spyOn(AbortSignal, 'timeout').mockReturnValue(passed);
  const api = signedIn();
  next = Array.from({ length: 4 }, () => () => {
    throw passed.reason;
  });
  const change = settled(api.change(CANCEL, 'key'));
  await jest.advanceTimersByTimeAsync(60_000);
  expect(await change).toMatchObject({ code: 'UNREACHABLE' });
  expect(api.reach.shown().lostAt).toBeDefined();
});

test('a request that its page gave up says nothing about the API', async () => {
  const over = new AbortController();
  const api = signedIn();
  next = [
    () => {
      over.abort();
      throw over.signal.reason;
    },
  ];
  await settled(api.get('/v1/me', { signal: over.signal }).catch(() => undefined));
  expect(api.reach.shown().lostAt).toBeUndefined();
});

test('a page without a text in place of the API is told as not of the API', async () => {
  next = Array.from(
    { length: 4 },
    () => () => new Response('', { headers: { 'content-type': 'text/html' } }),
  );
  const read = settled(signedIn().get('/v1/me'));
  await jest.advanceTimersByTimeAsync(60_000);
  expect(await read).toMatchObject({
    error: { problem: { detail: 'No response (The response is not from the Cairn API).' } },
  });
});
