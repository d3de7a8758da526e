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
  // The client pauses between attempts.
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

/** Has a read find the key expired. The read then waits for the sign-in. */
async function expire(api: Api): Promise<{ readonly read: Promise<unknown> }> {
  const read = api.get('/v1/me');
  await jest.advanceTimersByTimeAsync(1);
  return { read };
}

describe('a change is never sent with the key of the next person', () => {
  test('a change that begins while the page asks to sign in is not sent', async () => {
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
  ])('a change that %s before the sign-in is not repeated after it', async (_, first, code) => {
    const api = signedIn();
    next = [first];
    const change = settled(api.change(CANCEL, 'key'));
    await jest.advanceTimersByTimeAsync(1);
    const { read } = await expire(api);
    await jest.advanceTimersByTimeAsync(60_000);
    api.signInAgain(async () => 'B');
    await read;
    await jest.advanceTimersByTimeAsync(60_000);
    // UNREACHABLE means that the change may have been carried out, UNAUTHENTICATED that it was not.
    expect(await change).toMatchObject({ code });
    expect(changesBy('B')).toEqual([]);
  });

  test('a change whose retry finds the key expired is reported as possibly carried out', async () => {
    const api = signedIn();
    next = [unreached];
    const change = settled(api.change(CANCEL, 'key'));
    await jest.advanceTimersByTimeAsync(60_000);
    expect(await change).toMatchObject({ code: 'UNREACHABLE' });
    expect(changesBy('A')).toHaveLength(2);
  });

  test('the later requests of a change that began before the sign-in are not sent', async () => {
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

test('a dry run waits for the sign-in, as a read does', async () => {
  const api = signedIn();
  const first = api.preview(DRY_RUN);
  await jest.advanceTimersByTimeAsync(1);
  const second = api.preview(DRY_RUN);
  await jest.advanceTimersByTimeAsync(1);
  api.signInAgain(async () => 'B');
  await Promise.all([first, second]);
  expect(changesBy('B')).toHaveLength(2);
});

test('the API counts as unreachable after a request times out', async () => {
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

test('a request aborted by its page does not make the API count as unreachable', async () => {
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

test('an empty web page in place of an answer is reported as not from the API', async () => {
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
