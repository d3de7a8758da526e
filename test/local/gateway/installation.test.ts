import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { apisAmong, rewritesToInstallation } from '../../../packages/local/src/gateway/installation.ts';
import type { HostingConfig } from '../../../packages/local/src/gateway/rewrites.ts';
import type { FunctionSpec } from '../../../packages/local/src/host/function-spec.ts';

/** Functions of these names; `drive` of an installation says where its runs are. */
function functions(...names: readonly string[]): Map<string, FunctionSpec> {
  return new Map(
    names.map((name) => {
      const spec = { name, region: 'r', timeoutSeconds: 60, concurrency: 80, secrets: [] };
      const store = { database: '(default)', collectionPrefix: 'gwi_' };
      const isDrive = /(?:^|-)drive$/.test(name);
      return [name, { ...spec, trigger: { kind: 'https' }, ...(isDrive && { store }) }];
    }),
  );
}

function targets(names: readonly string[], path: string): string[] {
  return rewritesToInstallation(functions(...names))
    .filter((rewrite) => rewrite.matches(path))
    .map(({ functionName }) => functionName);
}

describe('an installation is found among the functions', () => {
  test.each([
    ['under one export', ['orders', 'cairn-api', 'cairn-drive'], '/v1/runs', ['cairn-api']],
    ['under their own names', ['api', 'drive', 'orders'], '/v1/runs', ['api']],
    ['with a prefix', ['shop-cairn-drive', 'shop-cairn-api'], '/v1/runs', ['shop-cairn-api']],
    ['the first of two', ['a-api', 'a-drive', 'b-api', 'b-drive'], '/v1/runs', ['a-api']],
    [
      'a webhook that only the second takes',
      ['a-drive', 'b-drive', 'b-githubWebhook'],
      '/webhooks/github',
      ['b-githubWebhook'],
    ],
    ["an app's own function `api` is none of it", ['api', 'orders'], '/v1/runs', []],
    ['paths of its own only', ['api', 'drive'], '/orders', []],
  ])('%s', (_, names, path, found) => {
    expect(targets(names, path)).toEqual(found);
  });

  test('the APIs of all installations are known', () => {
    expect(apisAmong(functions('a-api', 'a-drive', 'api', 'b-drive', 'b-api'))).toEqual(['a-api', 'b-api']);
  });
});

test('the console is served as firebase.json says', () => {
  const read = (file: string): unknown =>
    JSON.parse(readFileSync(join(import.meta.dirname, '../../..', file), 'utf8'));
  const { hosting } = read('firebase.json') as { hosting: HostingConfig };
  const pages = hosting.rewrites?.filter(({ destination }) => destination !== undefined);
  expect({ rewrites: pages, headers: hosting.headers }).toEqual(read('packages/console/hosting.json'));
});
