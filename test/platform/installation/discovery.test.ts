import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, test } from '@jest/globals';

/** Checks the manifest that the SDK creates for `firebase deploy` from codebases with installations. */
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
  readonly requiredRoles?: readonly string[];
}

/** Manifest of a codebase with this module text. */
function discover(name: string, text: string): Manifest {
  const codebase = join(folder, name);
  mkdirSync(codebase);
  writeFileSync(join(codebase, 'package.json'), '{"type":"module","main":"index.js"}');
  writeFileSync(
    join(codebase, 'index.js'),
    `import { cairnFunctions } from '${url('packages/cairn/src/platform/installation/cairn-functions.ts')}';
     import { defineSecret } from '${url('node_modules/firebase-functions/lib/esm/params/index.mjs')}';
     import { onRequest } from '${url('node_modules/firebase-functions/lib/esm/v2/providers/https.mjs')}';
     const workflows = () => import('nowhere');
     ${text}`,
  );
  const script = `
    const { loadStack } = require('${join(ROOT, 'node_modules/firebase-functions/lib/runtime/loader.js')}');
    loadStack('${codebase}').then((stack) => process.stdout.write(JSON.stringify(stack)));`;
  const { stdout, stderr } = spawnSync(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', '-e', script],
    {
      cwd: codebase,
      encoding: 'utf8',
      env: {
        PATH: process.env.PATH,
        NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
        GCLOUD_PROJECT: 'demo-cairn',
        FIREBASE_CONFIG: '{"projectId":"demo-cairn"}',
      },
    },
  );
  expect(stderr).toBe('');
  return JSON.parse(stdout) as Manifest;
}

let manifest: Manifest;
beforeAll(() => {
  manifest = discover(
    'beside-an-app',
    `export const placeOrder = onRequest(() => {});
     export const cairn = cairnFunctions({ workflows, region: 'europe-west1', secrets: [defineSecret('STRIPE_KEY')] });
     export const { api, drive, driveAlone } = cairnFunctions({ workflows, region: 'us-east1', slack: true });`,
  );
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('functions of a group carry its name, and destructured ones do not', () => {
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

test('a deployment asks for the secret that the code names and for those of its options, and for no parameters', () => {
  expect(manifest.params?.map(({ name }) => name).sort()).toEqual(['SLACK_SIGNING_SECRET', 'STRIPE_KEY']);
  const bound = Object.entries(manifest.endpoints).flatMap(([name, { secretEnvironmentVariables = [] }]) =>
    secretEnvironmentVariables.map(({ key }) => `${name} ${key}`),
  );
  expect(bound.sort()).toEqual(['cairn-drive STRIPE_KEY', 'cairn-driveAlone STRIPE_KEY']);
});

test('roles are declared only in a codebase of Cairn alone, and for the options it uses', () => {
  expect(manifest.requiredRoles ?? []).toEqual([]);
  const alone = discover(
    'alone',
    `export const cairn = cairnFunctions({ workflows, managedAccount: true, runEventsTopic: '', topics: ['orders'] });`,
  );
  expect([...(alone.requiredRoles ?? [])].sort()).toEqual([
    'roles/cloudtasks.enqueuer',
    'roles/cloudtasks.viewer',
    'roles/datastore.user',
    'roles/eventarc.eventReceiver',
    'roles/iam.serviceAccountUser',
    'roles/logging.logWriter',
    'roles/monitoring.metricWriter',
    'roles/run.invoker',
  ]);
});
