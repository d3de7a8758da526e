import { expect, test } from '@jest/globals';
import * as functions from '../../../functions/src/index.ts';
import { boundSecrets } from '../../../packages/cairn/src/platform/diagnosis/bound-secrets.ts';
import { setupProbe } from '../../../packages/cairn/src/platform/diagnosis/setup.ts';
import { servedInstallations } from '../../../packages/cairn/src/platform/installation/installation.ts';
import type { CairnOptions } from '../../../packages/cairn/src/platform/installation/options.ts';

const SETTINGS = {
  project: 'p',
  runEventsTopic: 'run-events',
  githubTenants: { listed: '', others: '' },
  slackTenants: '',
};

const [installation] = servedInstallations();
const SECRETS = boundSecrets(installation?.options as CairnOptions, {});

test('the table of secrets says which function is deployed with which', () => {
  const bound: Record<string, string[]> = {};
  for (const [name, value] of Object.entries(functions)) {
    const { __endpoint: endpoint } = value as {
      __endpoint?: { secretEnvironmentVariables?: { key: string }[] };
    };
    for (const { key } of endpoint?.secretEnvironmentVariables ?? [])
      bound[key] = [...(bound[key] ?? []), name];
  }
  expect(bound).toEqual(SECRETS);
});

test.each([
  [undefined, 'elsewhere'],
  ['', 'empty'],
  [' \n', 'empty'],
  ['none', 'none'],
  ['s3cr3t-of-ours', 'set'],
])('a secret whose variable is %j is %s, and is not shown', (value, state) => {
  const seen = setupProbe(SETTINGS, SECRETS, { GITHUB_TOKEN: value }).secrets();
  expect(seen.find(({ name }) => name === 'GITHUB_TOKEN')?.state).toBe(state);
  expect(JSON.stringify(seen)).not.toContain('s3cr3t');
});

test('invalid parameters are named with the reason', () => {
  expect(setupProbe(SETTINGS, SECRETS, {}).wrongParameters()).toEqual([]);
  const wrong = { ...SETTINGS, githubTenants: { listed: 'acme', others: '' }, slackTenants: 'T1' };
  expect(setupProbe(wrong, SECRETS, {}).wrongParameters()).toEqual([
    { name: 'GITHUB_TENANTS', why: expect.stringContaining("'acme' is not") },
    { name: 'SLACK_TENANTS', why: expect.stringContaining("'T1' is not") },
  ]);
});
