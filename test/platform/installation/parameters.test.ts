import { expect, test } from '@jest/globals';
import {
  database,
  environment,
  githubTenant,
  pubsubTenant,
  region,
  retentionDays,
  scheduleTenant,
} from '../../../packages/cairn/src/platform/settings/parameters.ts';

test.each([
  ['SCHEDULE_TENANT', scheduleTenant, 'local'],
  ['PUBSUB_TENANT', pubsubTenant, 'local'],
  ['GITHUB_TENANT', githubTenant, ''],
  ['ENVIRONMENT', environment, 'production'],
  ['CAIRN_REGION', region, 'us-central1'],
  ['FIRESTORE_DATABASE', database, '(default)'],
  ['RETENTION_DAYS', retentionDays, 0],
])(
  '%s has its default if it is absent or empty: no run may belong to a tenant without a name',
  (name, parameter, value) => {
    delete process.env[name];
    expect(parameter.value()).toBe(value);
    process.env[name] = '';
    expect(parameter.value()).toBe(value);
    process.env[name] = '7';
    expect(String(parameter.value())).toBe('7');
  },
);
