import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, test } from '@jest/globals';

/** What the SDK tells `firebase deploy` of a codebase that has installations beside functions of its own. */
const ROOT = join(import.meta.dirname, '../../..');
const folder = mkdtempSync(join(tmpdir(), 'cairn-codebase-'));
const url = (path: string) => pathToFileURL(join(ROOT, path)).href;

interface Endpoint {
  readonly entryPoint: string;
  readonly region?: readonly string[];
  readonly secretEnvironmentVariables?: readonly { readonly key: string }[];
}
interface Manifest {
  readonly endpoints: Readonly<Record<string, Endpoint>>;
  readonly params?: readonly { readonly name: string }[];
}

let manifest: Manifest;
beforeAll(() => {
  writeFileSync(join(folder, 'package.json'), '{"type":"module","main":"index.js"}');
  writeFileSync(
    join(folder, 'index.js'),
    `import { cairnFunctions } from '${url('packages/cairn/src/platform/installation/cairn-functions.ts')}';
     import { defineSecret } from '${url('node_modules/firebase-functions/lib/esm/params/index.mjs')}';
     import { onRequest } from '${url('node_modules/firebase-functions/lib/esm/v2/providers/https.mjs')}';
     const workflows = () => import('nowhere');
     export const placeOrder = onRequest(() => {});
     export const cairn = cairnFunctions({ workflows, region: 'europe-west1', secrets: [defineSecret('STRIPE_KEY')] });
     export const { api, drive, driveAlone } = cairnFunctions({ workflows, region: 'us-east1', slack: true });`,
  );
  const script = `
    const { loadStack } = require('${join(ROOT, 'node_modules/firebase-functions/lib/runtime/loader.js')}');
    loadStack('${folder}').then((stack) => process.stdout.write(JSON.stringify(stack)));`;
  const { stdout, stderr } = spawnSync(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', '-e', script],
    {
      cwd: folder,
      encoding: 'utf8',
      env: {
        PATH: process.env.PATH,
        GCLOUD_PROJECT: 'demo-cairn',
        FIREBASE_CONFIG: '{"projectId":"demo-cairn"}',
      },
    },
  );
  expect(stderr).toBe('');
  manifest = JSON.parse(stdout) as Manifest;
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('functions of a group carry its name, and those that are taken apart do not', () => {
  const { endpoints } = manifest;
  expect(Object.keys(endpoints).sort()).toEqual([
    'api',
    'cairn-api',
    'cairn-checkRuns',
    'cairn-deleteExpired',
    'cairn-drive',
    'cairn-driveAlone',
    'cairn-fireSchedules',
    'cairn-recoverRuns',
    'drive',
    'driveAlone',
    'placeOrder',
  ]);
  expect(endpoints['cairn-driveAlone']?.entryPoint).toBe('cairn.driveAlone');
  expect(endpoints['cairn-drive']?.region).toEqual(['europe-west1']);
});

test('a deployment asks for the secret that the code names, for those opted into, and for no parameters', () => {
  expect(manifest.params?.map(({ name }) => name).sort()).toEqual(['SLACK_SIGNING_SECRET', 'STRIPE_KEY']);
  const bound = Object.entries(manifest.endpoints).flatMap(([name, { secretEnvironmentVariables = [] }]) =>
    secretEnvironmentVariables.map(({ key }) => `${name} ${key}`),
  );
  expect(bound.sort()).toEqual(['cairn-drive STRIPE_KEY', 'cairn-driveAlone STRIPE_KEY']);
});
