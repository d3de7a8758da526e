/** Requests to a function while its codebase is being loaded: a slow machine must not cost the codebase. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, jest, test } from '@jest/globals';
import { asking } from '../../../../packages/local/src/host/ask-function.ts';
import type { WorkerPool } from '../../../../packages/local/src/host/workers/worker-pool.ts';
import { API } from '../pool-fixture.ts';

let server: Server;
afterEach(() => {
  jest.restoreAllMocks();
  server.closeAllConnections();
  server.close();
});

type Fate = 'silence' | 'death' | 'answer';

/** @param fateOf of the request of this number, the first is 1 */
async function asked(fateOf: (request: number) => Fate) {
  let requests = 0;
  let limit = new AbortController();
  jest.spyOn(AbortSignal, 'timeout').mockImplementation(() => {
    limit = new AbortController();
    return limit.signal;
  });
  server = createServer((_, response) => {
    requests += 1;
    const fate = fateOf(requests);
    if (fate === 'answer') response.end('here');
    else if (fate === 'death') response.destroy();
    else limit.abort(new Error('The operation was aborted due to timeout'));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const lease = { port, release() {}, broken() {} };
  const pool = { acquireAside: () => Promise.resolve(lease) } as unknown as WorkerPool;
  const ask = asking(pool, new Map([['api', API]]));
  return { answer: ask('api', '/v1/workflows', {}), requests: () => requests };
}

test('a function that answers too late is asked once more', async () => {
  const { answer } = await asked((request) => (request === 1 ? 'silence' : 'answer'));
  expect(await (await answer).text()).toBe('here');
});

test('a function that never answers is named, with its time limit', async () => {
  const { answer, requests } = await asked(() => 'silence');
  await expect(answer).rejects.toThrow(
    "the function 'api' did not answer GET /v1/workflows within its time limit of 60 s, 2 times",
  );
  expect(requests()).toBe(2);
});

test('a function whose workers die is asked a limited number of times, also if one answered too late', async () => {
  const { answer, requests } = await asked((request) =>
    request === 3 ? 'silence' : request < 9 ? 'death' : 'answer',
  );
  await expect(answer).rejects.toThrow('fetch failed');
  expect(requests()).toBe(4);
});
