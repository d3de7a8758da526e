import { beforeAll, expect, test } from '@jest/globals';
import { functionsIn, type Manifest, manifestOf } from './manifest-of.ts';

/** From the sources: that what is built exports the same is tested in `test/platform/deployment.test.ts`, and a build takes long. */
let manifest: Manifest;

beforeAll(() => {
  const read = manifestOf('functions/src/index.ts');
  expect(read.stderr).toBe('');
  manifest = read.manifest as Manifest;
});

test('all functions are discovered, each with its trigger and its secrets', () => {
  expect(functionsIn(manifest)).toEqual([
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

test('every function is deployed where the parameter says, and no API must be enabled by hand', () => {
  const regions = Object.values(manifest.endpoints).map(({ region }) => String(region));
  expect(new Set(regions)).toEqual(new Set(['{{ params.CAIRN_REGION }}']));
  expect(manifest.requiredAPIs.map(({ api }) => api).sort()).toEqual([
    'cloudscheduler.googleapis.com',
    'cloudtasks.googleapis.com',
  ]);
});
