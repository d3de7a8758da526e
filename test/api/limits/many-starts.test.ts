/** Only the tenant that sends many starts with inputs of hundreds of kilobytes waits for them. */
import { expect, test } from '@jest/globals';
import { floodedApi } from './flooded-api.ts';

const MEDIUM = 'x'.repeat(256 * 1024);
const AT_A_TIME = 3;
/** Concurrent requests of an instance. */
const MANY = 80;

const turn = () => new Promise((resolve) => setImmediate(resolve));

const NO_RUN = 'run_00000000000000000000000000';

test('a tenant starts or forks three runs with large inputs at a time, and none is refused', async () => {
  const { api, keys, letGo, calls: begun } = await floodedApi('start');
  const post = async (tenant: keyof typeof keys, key: string, path: string, body: object) => {
    const text = JSON.stringify(body);
    const { status } = await api.request(path, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${keys[tenant]}`,
        'content-type': 'application/json',
        'content-length': String(text.length),
        'idempotency-key': key,
      },
      body: text,
    });
    return status;
  };
  const start = (tenant: keyof typeof keys, text: string, key: string) =>
    post(tenant, key, '/v1/runs', { type: 'echo', input: { text } });
  const fork = (tenant: keyof typeof keys) =>
    post(tenant, 'fork', `/v1/runs/${NO_RUN}/fork`, { input: { text: MEDIUM } });
  const flood = Array.from({ length: MANY }, (_, n) => start('flood', MEDIUM, `k${n}`));
  for (let turns = 0; begun() < AT_A_TIME; turns += 1) {
    if (turns > 10_000) throw new Error('none began');
    await turn();
  }
  expect(await start('acme', MEDIUM, 'medium')).toBe(201);
  const small = start('flood', 'x', 'small');
  for (let turns = 0; begun() < AT_A_TIME + 1; turns += 1) {
    if (turns > 10_000) throw new Error('the small one did not begin');
    await turn();
  }
  expect(begun()).toBe(AT_A_TIME + 1);
  let isForked = false;
  const forked = fork('flood').finally(() => {
    isForked = true;
  });
  expect(await fork('acme')).toBe(404);
  expect(isForked).toBe(false);
  letGo();
  expect(await forked).toBe(404);
  expect(new Set(await Promise.all([...flood, small]))).toEqual(new Set([201]));
});
