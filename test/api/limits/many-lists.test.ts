/** Only the tenant that sends many expensive reads at once waits for them. */
import { describe, expect, test } from '@jest/globals';
import { floodedApi } from './flooded-api.ts';

const LISTED = 3;
const WAITING = 60;

async function flooded() {
  const { api, keys, letGo, calls } = await floodedApi('listRuns');
  const get = (tenant: keyof typeof keys, path: string, signal?: AbortSignal) =>
    api.request(path, { headers: { authorization: `Bearer ${keys[tenant]}` }, ...(signal && { signal }) });
  const send = (tenant: keyof typeof keys, method: 'GET' | 'POST', path: string) =>
    api.request(path, {
      method,
      headers: {
        authorization: `Bearer ${keys[tenant]}`,
        ...(method === 'POST' && { 'content-type': 'application/json', 'idempotency-key': 'k' }),
      },
      ...(method === 'POST' && { body: '{}' }),
    });
  return { get, send, letGo, reads: calls };
}

const NO_RUN = 'run_00000000000000000000000000';

const turn = () => new Promise((resolve) => setImmediate(resolve));

async function untilTrue(condition: () => boolean): Promise<void> {
  for (let turns = 0; !condition(); turns += 1) {
    if (turns > 10_000) throw new Error('it did not become true');
    await turn();
  }
}

describe('a tenant that sends many lists at once', () => {
  test('reads some at a time, and is refused when too many wait', async () => {
    const { get, letGo, reads } = await flooded();
    const answers: number[] = [];
    const all = Array.from({ length: LISTED + WAITING + 5 }, async () => {
      const { status, headers } = await get('flood', '/v1/runs');
      answers.push(status);
      if (status === 429) expect(headers.get('retry-after')).toBe('1');
    });
    await untilTrue(() => answers.length === 5);
    expect(new Set(answers)).toEqual(new Set([429]));
    expect(reads()).toBe(LISTED);
    letGo();
    await Promise.all(all);
    expect(answers.filter((status) => status === 200)).toHaveLength(LISTED + WAITING);
  });

  test('delays neither its own plain reads nor the lists of a neighbour', async () => {
    const { get, letGo, reads } = await flooded();
    const lists = Array.from({ length: 20 }, () => get('flood', '/v1/runs?sort=longest'));
    await untilTrue(() => reads() === LISTED);
    expect((await get('flood', '/v1/me')).status).toBe(200);
    expect((await get('flood', `/v1/runs/${NO_RUN}`)).status).toBe(404);
    expect((await get('acme', '/v1/runs?sort=longest')).status).toBe(200);
    expect((await get('acme', '/v1/runs/statistics')).status).toBe(200);
    letGo();
    await Promise.all(lists);
  });

  test.each([
    ['a check', 'GET', '/consistency'],
    ['a repair', 'POST', '/repair'],
    ['a graph', 'GET', '/graph'],
  ] as const)('waits with %s of a run too, which reads all its documents', async (_what, method, part) => {
    const { send, get, letGo, reads } = await flooded();
    const lists = Array.from({ length: LISTED }, () => get('flood', '/v1/runs'));
    await untilTrue(() => reads() === LISTED);
    let isAnswered = false;
    const ask = async (tenant: 'flood' | 'acme') => send(tenant, method, `/v1/runs/${NO_RUN}${part}`);
    const waiting = ask('flood').finally(() => {
      isAnswered = true;
    });
    expect((await ask('acme')).status).toBe(404);
    expect(isAnswered).toBe(false);
    letGo();
    expect((await waiting).status).toBe(404);
    await Promise.all(lists);
  });

  test('reads nothing for a caller that disconnected before its turn', async () => {
    const { get, letGo, reads } = await flooded();
    const gone = new AbortController();
    const begun = Array.from({ length: LISTED }, () => get('flood', '/v1/runs'));
    await untilTrue(() => reads() === LISTED);
    const left = get('flood', '/v1/runs', gone.signal);
    await turn();
    gone.abort();
    letGo();
    await Promise.all(begun);
    expect((await left).status).toBe(429);
    expect(reads()).toBe(LISTED);
  });
});
