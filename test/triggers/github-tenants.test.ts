import { beforeEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { z } from 'zod';
import { defineWorkflow } from '../../packages/cairn/src/engine/define/workflow.ts';
import { CollectedLog } from '../../packages/cairn/src/testing/world/collected-log.ts';
import { githubTenantsIn, senderOf, tenantOf } from '../../packages/cairn/src/triggers/github/tenants.ts';
import { type GithubDeps, githubWebhook } from '../../packages/cairn/src/triggers/github/webhook.ts';
import { deliveryRequest, Installation } from '../api/installation.ts';

const PR = defineWorkflow({
  type: 'on-pull-request',
  planVersion: 1,
  input: z.looseObject({}),
  on: { github: { event: 'pull_request' } },
  steps: (step) => ({ a: step('a', () => 1) }),
});

/** The same pull request of a repository with the same name, from any sender. */
const payload = (installation?: number) => ({
  action: 'opened',
  repository: { full_name: 'acme/app', owner: { login: 'acme' } },
  pull_request: { number: 7, html_url: 'https://github.com/acme/app/pull/7' },
  ...(installation === undefined ? {} : { installation: { id: installation } }),
});

let installation: Installation;
let log: CollectedLog;
beforeEach(() => {
  installation = new Installation([PR]);
  log = new CollectedLog(installation.world.clock);
});

async function deliver(listed: string, body: object, id?: string) {
  const { github } = installation;
  const deps: GithubDeps = { ...github, log, tenants: () => githubTenantsIn({ listed, others: '' }) };
  const sent = { body: JSON.stringify(body), ...(id === undefined ? {} : { id }) };
  const answer = await githubWebhook(deps, deliveryRequest(sent));
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
}

describe('two installations of two tenants', () => {
  const listed = '11=red, 22=blue';
  const keyOf = (tenantId: string) => installation.key(`reader-${tenantId}`, { tenantId, roles: ['viewer'] });
  const runsOf = async (tenantId: string) => {
    const answer = await installation.get('/v1/runs?repoId=acme%2Fapp', await keyOf(tenantId));
    return ((await answer.json()) as { items: { id: string; tenantId: string }[] }).items;
  };

  test('never share a run, though repository, pull request and time are the same', async () => {
    const red = await deliver(listed, payload(11));
    const blue = await deliver(listed, payload(22));
    expect([red.status, blue.status]).toEqual([202, 202]);
    expect(red.body.runId).not.toBe(blue.body.runId);
    expect(await runsOf('red')).toMatchObject([{ id: red.body.runId, tenantId: 'red' }]);
    expect(await runsOf('blue')).toMatchObject([{ id: blue.body.runId, tenantId: 'blue' }]);
    // A repeated delivery is still recognised, separately for each sender.
    expect(await deliver(listed, payload(11))).toEqual({
      status: 200,
      body: { duplicate: true, runId: red.body.runId },
    });
  });

  test('learn nothing about each other from the id of a delivery', async () => {
    const red = await deliver(listed, payload(11), 'one-id');
    const before = installation.written();
    const blue = await deliver(listed, payload(22), 'one-id');
    expect(blue.status).toBeGreaterThanOrEqual(400);
    expect(blue.status).toBeLessThan(500);
    expect(JSON.stringify(blue.body)).not.toContain(String(red.body.runId));
    expect(JSON.stringify(blue.body)).not.toContain('red');
    expect(installation.written()).toBe(before);
    expect(await runsOf('blue')).toEqual([]);
  });
});

test.each([
  ['another installation', '11=red', payload(12)],
  ['none at all', '11=red', payload()],
  ['an installation that does not belong to the account', '11=red, other=blue', payload(12)],
])('a delivery of %s is ignored with the reason, and writes nothing', async (_who, listed, body) => {
  expect(await deliver(listed, body)).toEqual({
    status: 202,
    body: { ignored: true, reason: 'this GitHub installation is not connected' },
  });
  expect(installation.written()).toBe(0);
  expect(log.lines).toMatchObject([
    { level: 'warn', event: 'github_installation_unknown', fields: { owner: 'acme' } },
  ]);
});

test('an invalid mapping stops deliveries, not pings, and writes nothing', async () => {
  expect((await deliver('11', payload(11))).status).toBe(500);
  expect(installation.written()).toBe(0);
  const { github } = installation;
  const broken = { ...github, tenants: () => githubTenantsIn({ listed: '11', others: '' }) };
  expect((await githubWebhook(broken, deliveryRequest({ event: 'ping' }))).status).toBe(200);
});

describe('the tenant of a run', () => {
  const everywhere = { listed: '11=by-id, acme=by-owner, *=by-star', others: 'by-default' };
  const org = { organization: { login: 'ACME' } };
  const app = { installation: { id: 5, account: { login: 'Acme' } } };
  test.each([
    ['the installation, whatever the account', everywhere, payload(11), 'by-id'],
    ['the account, if the installation is not listed', everywhere, payload(12), 'by-owner'],
    ['the account, if there is no installation', everywhere, payload(), 'by-owner'],
    ['the account in any case', everywhere, { repository: { full_name: 'AcMe/app' } }, 'by-owner'],
    ['the organization, if there is no repository', everywhere, org, 'by-owner'],
    ['whoever installed the app, if there is neither', everywhere, app, 'by-owner'],
    ['the catch-all before the default', everywhere, { repository: { full_name: 'b/app' } }, 'by-star'],
    ['the default, if nothing is listed', { listed: '', others: 'd' }, payload(1), 'd'],
    ['the default, if only others are listed', { listed: '11=red', others: 'd' }, payload(1), 'd'],
    ['local, if nothing is configured', { listed: ' , ', others: '' }, payload(1), 'local'],
    ['nobody, if only others are listed', { listed: '11=red', others: '' }, payload(1), undefined],
    ['the catch-all alone', { listed: '*=all', others: '' }, {}, 'all'],
    ['no account of the name of an installation', { listed: '11=x', others: '' }, org11(), undefined],
    [
      'no installation whose id is text',
      { listed: '11=x', others: '' },
      { installation: { id: '11' } },
      undefined,
    ],
  ])('%s', (_what, parameters, body, tenant) => {
    expect(tenantOf(githubTenantsIn(parameters), senderOf({ payload: body as never }))).toBe(tenant);
  });

  function org11() {
    return { repository: { full_name: '11/app' } };
  }

  test('is one of those configured, whatever a payload contains', () => {
    const tenants = githubTenantsIn({ listed: '11=red,acme=blue', others: '' });
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), fc.jsonValue(), (a, b, c) => {
        const body = { installation: a, repository: b, organization: c };
        const who = senderOf({ payload: body as never });
        expect([undefined, 'red', 'blue']).toContain(tenantOf(tenants, who));
      }),
    );
  });
});

describe('GITHUB_TENANTS', () => {
  test.each([
    '11',
    '11=',
    '=red',
    '11=a=b',
    '11=a b',
    'a/b=red',
    '**=x',
    '11=a,11=b',
    'acme=a,Acme=b',
    '*=a,*=b',
  ])('refuses %j', (listed) => {
    expect(() => githubTenantsIn({ listed, others: '' })).toThrow('GITHUB_TENANTS');
  });

  test('and GITHUB_TENANT accept only valid names of tenants', () => {
    expect(() => githubTenantsIn({ listed: '', others: 'a b' })).toThrow('GITHUB_TENANT:');
  });
});
