import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import {
  installedBindings,
  installedGithub,
  installedWorkflows,
  installWorkflows,
} from '../../functions/src/shipped.ts';
import { slackRespond } from '../../packages/cairn/src/capabilities/slack/respond.ts';
import { Bindings } from '../../packages/cairn/src/engine/define/bindings.ts';
import { defineBinding } from '../../packages/cairn/src/engine/define/capability.ts';
import { WorkflowRegistry } from '../../packages/cairn/src/engine/define/registry.ts';
import { githubAccess, slackHooks } from '../../packages/cairn/src/platform/settings/outside.ts';
import { bindingsFor } from '../../packages/cairn/src/platform/shipped-bindings.ts';

const VALUES = {
  GITHUB_API_URL: 'https://api.github.com',
  GITHUB_TOKEN: 'ghp_x',
  SLACK_HOOKS_URL: 'https://hooks.slack.com',
  DEPLOY_HOOK_URL: 'https://deploy.example',
  CLEANUP_HOOK_URL: 'https://cleanup.example',
};
const ALL = { github: true, slack: true };
const before = { ...process.env };
beforeEach(() => {
  Object.assign(process.env, VALUES);
});
afterEach(() => {
  for (const name of Object.keys(VALUES)) {
    if (before[name] === undefined) delete process.env[name];
    else process.env[name] = before[name];
  }
});

describe('the target of posted reviews', () => {
  test.each([
    ['ghp_x', 'ghp_x'],
    [' ghp_x\n', 'ghp_x'],
    ['none', undefined],
    ['', undefined],
    [undefined, undefined],
  ])('with the secret %j as %j', (secret, token) => {
    if (secret === undefined) delete process.env.GITHUB_TOKEN;
    else process.env.GITHUB_TOKEN = secret;
    expect([githubAccess().token(), installedGithub.isThere()]).toEqual([token, token !== undefined]);
  });

  test('is a URL without a trailing slash', () => {
    process.env.GITHUB_API_URL = 'https://github.example/api/v3/';
    expect(githubAccess().url).toBe('https://github.example/api/v3');
  });

  test('is the default if the parameter is empty', () => {
    process.env.GITHUB_API_URL = '';
    expect(githubAccess().url).toBe('https://api.github.com');
    process.env.SLACK_HOOKS_URL = '';
    expect(slackHooks()).toBe('https://hooks.slack.com');
  });

  test.each(['github.example', 'ftp://github.example'])('is not %j', (url) => {
    process.env.GITHUB_API_URL = url;
    expect(() => githubAccess()).toThrow('GITHUB_API_URL');
    process.env.SLACK_HOOKS_URL = url;
    expect(() => slackHooks()).toThrow('SLACK_HOOKS_URL');
  });
});

describe('the installed bindings', () => {
  test('cover every capability that the workflows use, also in the function without the token', () => {
    delete process.env.GITHUB_TOKEN;
    const registry = new WorkflowRegistry(installedWorkflows());
    expect(registry.types()).toEqual(['deploy', 'nightly-cleanup', 'review-pull-request']);
    expect(registry.newest('review-pull-request')?.planVersion).toBe(3);
    expect(() => new Bindings(bindingsFor(ALL, [])).assertBound(registry)).not.toThrow();
  });

  test('include a custom binding in place of the shipped one, and keep the others', () => {
    const shipped = bindingsFor(ALL, []).map(({ capability }) => capability.id);
    const own = defineBinding(slackRespond, { id: 'slack.own', call: async () => ({}) });
    installWorkflows(installedWorkflows(), [own]);
    const bound = bindingsFor(ALL, installedBindings());
    const ids = bound.map(({ capability }) => capability.id);
    expect(ids.toSorted()).toEqual(shipped.toSorted());
    expect(new Bindings(bound).of(slackRespond).id).toBe('slack.own');
  });

  test('include none of GitHub or Slack unless the installation asks for them', () => {
    expect(bindingsFor({}, [])).toEqual([]);
  });
});
