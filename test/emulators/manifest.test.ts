import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, test } from '@jest/globals';

interface Endpoint {
  readonly region?: unknown;
  readonly secretEnvironmentVariables?: readonly { readonly key: string }[];
}

/**
 * What `firebase deploy` learns of the functions: it has their own SDK write this, offline, and goes by it. From the sources,
 * for that what is built exports the same is tested beside (`test/platform/deployment`), and a build takes long.
 */
const ROOT = join(import.meta.dirname, '../..');
const folder = mkdtempSync(join(tmpdir(), 'cairn-manifest-'));
let manifest: { endpoints: Record<string, Endpoint>; requiredAPIs: readonly { api: string }[] };

beforeAll(() => {
  const source = pathToFileURL(join(ROOT, 'functions/src/index.ts')).href;
  writeFileSync(join(folder, 'package.json'), '{"type":"module","main":"index.js"}');
  writeFileSync(join(folder, 'index.js'), `export * from '${source}';\n`);
  const sdk = join(ROOT, 'node_modules/firebase-functions');
  const { bin } = JSON.parse(readFileSync(join(sdk, 'package.json'), 'utf8')) as {
    bin: Record<string, string>;
  };
  const output = join(folder, 'functions.yaml');
  const { stderr } = spawnSync(process.execPath, [join(sdk, bin['firebase-functions'] ?? ''), folder], {
    cwd: folder,
    encoding: 'utf8',
    env: {
      GCLOUD_PROJECT: 'demo-cairn',
      FIREBASE_CONFIG: '{"projectId":"demo-cairn"}',
      FUNCTIONS_CONTROL_API: 'true',
      FUNCTIONS_MANIFEST_OUTPUT_PATH: output,
      NODE_OPTIONS: '--disable-warning=ExperimentalWarning',
    },
  });
  expect(stderr).toBe('');
  manifest = JSON.parse(readFileSync(output, 'utf8'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('all functions are discovered, each with its trigger and its secrets', () => {
  const found = Object.entries(manifest.endpoints).map(([name, endpoint]) => {
    const trigger = Object.keys(endpoint).find((key) => key.endsWith('Trigger'));
    const secrets = endpoint.secretEnvironmentVariables?.map(({ key }) => key) ?? [];
    return [name, trigger, ...secrets].join(' ');
  });
  expect(found.sort()).toEqual([
    'api httpsTrigger',
    'checkRuns scheduleTrigger',
    'deleteExpired scheduleTrigger',
    'drive taskQueueTrigger GITHUB_TOKEN',
    'driveAlone taskQueueTrigger GITHUB_TOKEN',
    'fireSchedules scheduleTrigger',
    'githubWebhook httpsTrigger GITHUB_WEBHOOK_SECRET',
    'pubsub-cloudBuilds eventTrigger',
    'pubsub-deployRequests eventTrigger',
    'recoverRuns scheduleTrigger',
    'slackWebhook httpsTrigger SLACK_SIGNING_SECRET',
  ]);
});

test('every function is deployed where the parameter says, and no API is left to be enabled by hand', () => {
  const regions = Object.values(manifest.endpoints).map(({ region }) => String(region));
  expect(new Set(regions)).toEqual(new Set(['{{ params.CAIRN_REGION }}']));
  expect(manifest.requiredAPIs.map(({ api }) => api).sort()).toEqual([
    'cloudscheduler.googleapis.com',
    'cloudtasks.googleapis.com',
  ]);
});
