/** A tenant that sends many starts with inputs of hundreds of kilobytes waits for itself, and nobody else waits for it. */
import { expect, test } from '@jest/globals';
import { createApi } from '../../../packages/cairn/src/api/app.ts';
import { intercept } from '../../support/intercept.ts';
import { Installation } from '../installation.ts';

const MEDIUM = 'x'.repeat(64 * 1024);
const AT_A_TIME = 3;
/** Concurrent requests of an instance. */
const MANY = 80;

const turn = () => new Promise((resolve) => setImmediate(resolve));

test('a tenant starts three runs with large inputs at a time, and none is refused', async () => {
  const installation = new Installation();
  const { apiDeps } = installation;
  const open = Promise.withResolvers<void>();
  let begun = 0;
  const store = intercept(apiDeps.start.store, async ({ method, args }, proceed) => {
    if (method === 'start' && JSON.stringify(args).includes('"flood"')) {
      begun += 1;
      await open.promise;
    }
    return proceed();
  });
  const api = createApi({ ...apiDeps, start: { ...apiDeps.start, store } });
  const keys = {
    flood: await installation.key('flooder', { tenantId: 'flood' }),
    acme: await installation.key('neighbour', { tenantId: 'acme' }),
  };
  const start = async (tenant: keyof typeof keys, text: string, key: string) => {
    const { status } = await api.request('/v1/runs', {
      method: 'POST',
      headers: {
        authorization: `Bearer ${keys[tenant]}`,
        'content-type': 'application/json',
        'idempotency-key': key,
      },
      body: JSON.stringify({ type: 'echo', input: { text } }),
    });
    return status;
  };
  const flood = Array.from({ length: MANY }, (_, n) => start('flood', MEDIUM, `k${n}`));
  for (let turns = 0; begun < AT_A_TIME; turns += 1) {
    if (turns > 10_000) throw new Error('none began');
    await turn();
  }
  expect(await start('acme', MEDIUM, 'medium')).toBe(201);
  const small = start('flood', 'x', 'small');
  for (let turns = 0; begun < AT_A_TIME + 1; turns += 1) {
    if (turns > 10_000) throw new Error('the small one did not begin');
    await turn();
  }
  expect(begun).toBe(AT_A_TIME + 1);
  open.resolve();
  expect(new Set(await Promise.all([...flood, small]))).toEqual(new Set([201]));
});
