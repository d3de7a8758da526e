import { expect, test } from '@jest/globals';
import { functionsIn, type Manifest, manifestOf, ROLES } from './manifest-of.ts';

const KIT = 'packages/calls/src/index.ts';

test('the kit has second-generation functions only, which ask for their region, their settings and one secret', () => {
  const { stderr, manifest } = manifestOf(KIT, { FIREBASE_KIT_INSTANCE_ID: 'calls' });
  expect(stderr).toBe('');
  const read = manifest as Manifest;
  expect(functionsIn(read)).toEqual([
    'api httpsTrigger',
    'checkRuns scheduleTrigger',
    'deleteExpired scheduleTrigger',
    'drive taskQueueTrigger CALL_TOKEN',
    'driveAlone taskQueueTrigger CALL_TOKEN',
    'fireSchedules scheduleTrigger',
    'recoverRuns scheduleTrigger',
  ]);
  for (const endpoint of Object.values(read.endpoints))
    expect(endpoint).toMatchObject({ platform: 'gcfv2', region: '{{ params.FUNCTION_DEFAULT_REGION }}' });
  expect(read.params.map(({ name, type, default: usual }) => [name, type, usual])).toEqual([
    ['FUNCTION_DEFAULT_REGION', 'string', 'us-central1'],
    ['CALL_TARGET_URL', 'string', undefined],
    ['CALL_TOKEN', 'secret', undefined],
    ['CALL_APPROVAL', 'string', 'never'],
    ['CALL_IN_DOUBT', 'string', 'ask'],
    ['FIRESTORE_DATABASE', 'string', '(default)'],
    ['RETENTION_DAYS', 'int', 90],
  ]);
});

test('the account of an instance gets the roles that the functions need, and no others', () => {
  const { manifest } = manifestOf(KIT);
  expect([...(manifest?.requiredRoles ?? [])].sort()).toEqual(ROLES);
});

test('an instance whose queues could not be created is not discovered, with the reason', () => {
  const { stderr, manifest } = manifestOf(KIT, { FIREBASE_KIT_INSTANCE_ID: 'my_calls' });
  expect(manifest).toBeUndefined();
  expect(stderr).toContain("Name it 'my-calls'");
});
