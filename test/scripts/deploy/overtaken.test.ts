import { createRequire } from 'node:module';
import { expect, test } from '@jest/globals';

const { overtaken } = createRequire(import.meta.url)('../../../scripts/deploy/overtaken.cjs');

interface Endpoint {
  readonly id: string;
  readonly region: string;
  readonly hash?: string;
}
const endpoint = (id: string, hash?: string): Endpoint => ({
  id,
  region: 'us-central1',
  ...(hash && { hash }),
});

interface Deployed {
  readonly filter?: string;
  /** Ids of wanted endpoints. */
  readonly declined?: readonly string[];
}

function search(
  wanted: readonly Endpoint[],
  have: readonly Endpoint[],
  { filter, declined = [] }: Deployed = {},
): Promise<unknown> {
  const endpoints = { 'us-central1': Object.fromEntries(have.map((one) => [one.id, one])) };
  const modules: Record<string, object> = {
    'firebase-tools/lib/deploy/functions/backend': {
      allEndpoints: (backend: readonly Endpoint[]) => backend,
      existingBackend: async () => ({ endpoints }),
    },
    'firebase-tools/lib/deploy/functions/functionsDeployHelper': {
      endpointMatchesAnyFilter: ({ id }: Endpoint, filters?: string) => !filters || filters === id,
    },
  };
  const given = {
    context: { filters: filter },
    payload: { functions: { cairn: { wantBackend: wanted } } },
    declined: new Set(wanted.filter(({ id }) => declined.includes(id))),
  };
  return overtaken(given, (name: string) => modules[name]);
}

test.each<[string, Endpoint[], Endpoint[], Deployed | undefined, string[]]>([
  ['none', [endpoint('api', 'a')], [endpoint('api', 'a')], undefined, []],
  [
    'one',
    [endpoint('api', 'a'), endpoint('drive', 'a')],
    [endpoint('api', 'b'), endpoint('drive', 'a')],
    undefined,
    ['api'],
  ],
  [
    'one that was not to be deployed',
    [endpoint('api', 'a'), endpoint('drive', 'a')],
    [endpoint('api', 'b'), endpoint('drive', 'a')],
    { filter: 'drive' },
    [],
  ],
  [
    'none, but the user declined to change one',
    [endpoint('api', 'a'), endpoint('drive', 'a')],
    [endpoint('api', 'b'), endpoint('drive', 'a')],
    { declined: ['api'] },
    [],
  ],
  ['one in a region that does not answer', [endpoint('api', 'a')], [], undefined, []],
  ['one without a hash', [endpoint('api')], [endpoint('api', 'b')], undefined, []],
])('a concurrent deployment changed %s', async (_, wanted, have, deployed, found) => {
  expect(await search(wanted, have, deployed)).toEqual(found);
});
