import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { startGateway } from '../../../packages/local/src/gateway/gateway.ts';
import {
  apisAmong,
  rewritesToInstallation,
  unservedOfInstallation,
} from '../../../packages/local/src/gateway/installation.ts';
import type { HostingConfig } from '../../../packages/local/src/gateway/rewrites.ts';
import { siteOf } from '../../../packages/local/src/gateway/site.ts';
import type { FunctionSpec } from '../../../packages/local/src/host/function-spec.ts';

/** Functions with these names; `drive` of an installation has the location of its runs. */
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
    ["an app's own function `api` does not belong to it", ['api', 'orders'], '/v1/runs', []],
    ['paths of its own only', ['api', 'drive'], '/orders', []],
  ])('%s', (_, names, path, found) => {
    expect(targets(names, path)).toEqual(found);
  });

  test('the APIs of all installations are known', () => {
    expect(apisAmong(functions('a-api', 'a-drive', 'api', 'b-drive', 'b-api'))).toEqual(['a-api', 'b-api']);
  });
});

test('a path of it with a segment that begins with a dot is answered with the reason, as production gives none to it', () => {
  const path = '/v1/idempotency/.x';
  expect(targets(['api', 'drive'], path)).toEqual([]);
  const reason = (one: string) => unservedOfInstallation(functions('api', 'drive'), one)?.detail;
  expect(reason(path)).toMatch(/^\/v1\/idempotency\/\.x has a segment that begins with a dot/);
  expect(reason('/orders/.x')).toBeUndefined();
});

test('its paths are answered with a problem while its codebase is not loaded, not with the page of the console for missing paths', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'cairn-gateway-'));
  for (const page of ['index.html', '404.html']) writeFileSync(join(folder, page), '<!doctype html>');
  let names: readonly string[] = ['orders'];
  const gateway = await startGateway({
    port: 0,
    now: () => 0,
    rewrites: () => rewritesToInstallation(functions(...names)),
    unserved: (path) => unservedOfInstallation(functions(...names), path),
    site: siteOf(folder, {}),
    serve: (_, __, response) => void response.end('served'),
  });
  try {
    for (const path of ['/v1/runs', '/v1/workflows?summary=true', '/webhooks/github']) {
      const answer = await fetch(gateway.url + path);
      expect(answer.headers.get('content-type')).toBe('application/problem+json');
      expect(await answer.json()).toMatchObject({
        status: 404,
        detail: expect.stringContaining('its codebase is not loaded'),
        help: expect.stringContaining('`cairn init` adds Cairn to a project'),
      });
    }
    expect(await (await fetch(`${gateway.url}/elsewhere`)).text()).toBe('<!doctype html>');
    names = ['api', 'drive'];
    expect(await (await fetch(`${gateway.url}/v1/runs`)).text()).toBe('served');
  } finally {
    await gateway.stop(0);
    rmSync(folder, { recursive: true });
  }
});

describe('a path that a loaded installation does not answer', () => {
  test.each([
    [['api', 'drive'], '/webhooks/slack', "'slackWebhook'", '`slack`'],
    [['a-api', 'a-drive', 'a-slackWebhook'], '/webhooks/github', "'githubWebhook'", '`github`'],
    [['drive'], '/v1/runs', "'api'", 'Export all functions'],
  ])('of %j, %s, is told what it lacks, not to add Cairn', (names, path, member, option) => {
    const unserved = unservedOfInstallation(functions(...names), path);
    expect(unserved?.detail).toContain(`has no function ${member}`);
    expect(unserved?.help).toContain(option);
    expect(JSON.stringify(unserved)).not.toMatch(/init|not loaded/);
  });

  test('is one of its own', () => {
    expect(unservedOfInstallation(functions('api', 'drive'), '/orders')).toBeUndefined();
  });
});

test('the console is served as firebase.json says', () => {
  const read = (file: string): unknown =>
    JSON.parse(readFileSync(join(import.meta.dirname, '../../..', file), 'utf8'));
  const { hosting } = read('firebase.json') as { hosting: HostingConfig };
  const pages = hosting.rewrites?.filter(({ destination }) => destination !== undefined);
  expect({ rewrites: pages, headers: hosting.headers }).toEqual(read('packages/console/hosting.json'));
});
