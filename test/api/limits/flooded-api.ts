/** The API with a tenant whose requests do not end, for the tests of limits. */
import { createApi } from '../../../packages/cairn/src/api/app.ts';
import type { RunStore } from '../../../packages/cairn/src/ports/run-store.ts';
import { intercept } from '../../support/intercept.ts';
import { Installation } from '../installation.ts';

/** An API where calls of this store method for the tenant `flood` stay in progress until they are released. */
export async function floodedApi(held: keyof RunStore) {
  const installation = new Installation();
  const { apiDeps } = installation;
  const open = Promise.withResolvers<void>();
  let calls = 0;
  const store = intercept(apiDeps.store, async ({ method, args }, proceed) => {
    if (method === held && JSON.stringify(args).includes('"flood"')) {
      calls += 1;
      await open.promise;
    }
    return proceed();
  });
  const api = createApi({ ...apiDeps, store });
  const keys = {
    flood: await installation.key('flooder', { tenantId: 'flood', roles: ['operator'] }),
    acme: await installation.key('neighbour', { tenantId: 'acme', roles: ['operator'] }),
  };
  return { api, keys, letGo: () => open.resolve(), calls: () => calls };
}
