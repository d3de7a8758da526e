import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { MAX_REQUEST_BYTES, parseForm } from '../../../packages/cairn/src/triggers/slack/signed-form.ts';
import { tenantsIn } from '../../../packages/cairn/src/triggers/slack/teams.ts';
import { actionOf, commandForm, pressOf, SlackEndpoint, type SlackRequestOptions, sign } from './endpoint.ts';

const deploy = defineWorkflow({
  type: 'deploy',
  planVersion: 1,
  input: z.unknown(),
  on: { slack: { command: '/deploy' } },
  steps: (step) => ({ a: step('a', () => 1) }),
});

const FORM = new URLSearchParams(commandForm()).toString();
const VALUE = { runId: `run_${'a'.repeat(26)}`, stepId: 's', waitId: 's.1', decision: 'approve' };
const payload = (json: unknown): Partial<SlackRequestOptions> => ({
  form: { payload: typeof json === 'string' ? json : JSON.stringify(json) },
});
const withField = (name: string, value: string): Partial<SlackRequestOptions> => ({
  form: commandForm({ [name]: value }),
});
const deep = `{"type":"block_actions","a":${'['.repeat(200)}${']'.repeat(200)}}`;

const REFUSALS: readonly (readonly [
  because: string,
  status: number,
  options: Partial<SlackRequestOptions>,
])[] = [
  ['a signature with another secret', 401, { secret: 'not the one' }],
  ['no signature', 401, { headers: { 'x-slack-signature': undefined } }],
  ['an empty signature', 401, { headers: { 'x-slack-signature': '' } }],
  ['no timestamp', 401, { headers: { 'x-slack-request-timestamp': undefined } }],
  ['a timestamp that was not signed', 401, { headers: { 'x-slack-request-timestamp': '1' } }],
  ['a request of yesterday', 401, { now: Date.UTC(2025, 11, 31) }],
  ['a request of tomorrow', 401, { now: Date.UTC(2026, 0, 2) }],
  ['an SSL check that nobody signed', 401, { form: { ssl_check: '1' }, secret: 'not the one' }],
  [
    'an unsigned body of another content type',
    401,
    { secret: '-', headers: { 'content-type': 'text/plain' } },
  ],
  ['another content type', 415, { headers: { 'content-type': 'application/json' } }],
  ['no content type', 415, { headers: { 'content-type': '' } }],
  [
    'another charset',
    415,
    { headers: { 'content-type': 'application/x-www-form-urlencoded; charset=latin1' } },
  ],
  ['GET', 405, { method: 'GET' }],
  ['PUT', 405, { method: 'PUT' }],
  ['another path', 404, { path: '/webhooks/slack/x' }],
  ['a length above the limit', 413, { headers: { 'content-length': String(MAX_REQUEST_BYTES + 1) } }],
  ['a body above the limit', 413, { body: `text=${'x'.repeat(MAX_REQUEST_BYTES)}` }],
  ['an empty body', 400, { body: '' }],
  ['a field twice', 400, { body: `${FORM}&team_id=T2` }],
  ['a field twice, once encoded', 400, { body: `${FORM}&team%5Fid=T2` }],
  ['a field without a value', 400, { body: `${FORM}&x` }],
  ['a field without a name', 400, { body: `${FORM}&=x` }],
  ['an empty field', 400, { body: `${FORM}&&a=b` }],
  ['a percent sign that encodes nothing', 400, { body: `${FORM}&x=%zz` }],
  ['half a character', 400, { body: `${FORM}&x=%ed%a0%80` }],
  ['bytes that are not UTF-8', 400, { body: Buffer.from([0x61, 0x3d, 0xff]) }],
  ['too many fields', 400, { body: Array.from({ length: 65 }, (_, i) => `f${i}=1`).join('&') }],
  ['no command', 400, withField('command', '')],
  ['a command without its slash', 400, withField('command', 'deploy')],
  ['no team', 400, withField('team_id', '')],
  ['a team with a colon', 400, withField('team_id', 'T:1')],
  ['no user', 400, withField('user_id', '')],
  ['a user that would be another actor', 400, withField('user_id', 'U1.T2')],
  ['no channel', 400, withField('channel_id', '')],
  ['no trigger', 400, withField('trigger_id', '')],
  ['an overlong trigger', 400, withField('trigger_id', '1'.repeat(256))],
  ['a trigger of other characters', 400, withField('trigger_id', 'ü')],
  ['an invalid response URL', 400, withField('response_url', 'https://')],
  ['a response URL without TLS', 400, withField('response_url', 'http://hooks.slack.com/1')],
  ['a response URL of another scheme', 400, withField('response_url', 'javascript:alert(1)')],
  ['a payload that is not JSON', 400, payload('{"type":')],
  ['a payload that is not an object', 400, payload('[1]')],
  ['a payload that is null', 400, payload('null')],
  ['a payload nested too deep', 400, payload(deep)],
  ['a payload with half a character', 400, payload('{"type":"\\ud800"}')],
  ['a payload without a type', 400, payload({})],
  ['a press without a user', 400, payload(pressOf(VALUE, { user: undefined }))],
  ['a press by an odd user', 400, payload(pressOf(VALUE, { user: { id: 'u-1' } }))],
  ['a press without a team', 400, payload(pressOf(VALUE, { user: { id: 'U1' }, team: null }))],
  ['a press of nothing', 400, payload(pressOf(VALUE, { actions: [] }))],
  ['a press of two buttons', 400, payload(pressOf(VALUE, { actions: [actionOf(VALUE), actionOf(VALUE)] }))],
  ['a button without a value', 400, payload(pressOf(VALUE, { actions: [{ action_id: 'cairn.decide' }] }))],
  [
    'a button whose value is null',
    400,
    payload(pressOf(VALUE, { actions: [{ action_id: 'cairn.decide', value: null }] })),
  ],
  ['a button with a value that is not JSON', 400, payload(pressOf('approve'))],
  ['a button with an overlong value', 400, payload(pressOf(JSON.stringify(VALUE).padEnd(2_001)))],
  ['a button with an unknown member', 400, payload(pressOf({ ...VALUE, tenantId: 't2' }))],
  ['a button without a wait id', 400, payload(pressOf({ ...VALUE, waitId: undefined }))],
  ['a button with another decision', 400, payload(pressOf({ ...VALUE, decision: 'approve_with_waiver' }))],
  ['a button with an overlong step', 400, payload(pressOf({ ...VALUE, stepId: 's'.repeat(501) }))],
];

test.each(REFUSALS)('%s is refused with %i, and nothing is written', async (_, status, options) => {
  const endpoint = new SlackEndpoint([deploy]);
  const answer = await endpoint.post(options);
  expect(answer.status).toBe(status);
  expect(answer.headers.get('content-type')).toBe('application/problem+json');
  expect(await answer.json()).toMatchObject({ status, code: expect.any(String), help: expect.any(String) });
  expect(endpoint.written()).toBe(0);
});

test.each([
  ['twice', `${FORM}&team_id=T2`, 'team_id'],
  ['twice, once encoded', `${FORM}&team%5Fid=T2`, 'team_id'],
  ['twice, with a long name', `${FORM}${`&${'x'.repeat(200)}=1`.repeat(2)}`, `${'x'.repeat(99)}…`],
  ['without a value', `${FORM}&channel+x`, 'channel x'],
  ['with a value that is not correctly encoded', `${FORM}&x=%zz`, 'x'],
  ['without a name', `${FORM}&=x`, undefined],
  ['with a name that is not correctly encoded', `${FORM}&%zz=x`, undefined],
])('the refusal of a field %s names it', async (_, body, field) => {
  const answer = await new SlackEndpoint([deploy]).post({ body });
  const problem = (await answer.json()) as { readonly code: string; readonly field?: string };
  expect([problem.code, problem.field]).toEqual(['INVALID_INPUT', field]);
});

test('the unmodified form is accepted', async () => {
  const endpoint = new SlackEndpoint([deploy]);
  expect((await endpoint.post({ body: FORM })).status).toBe(200);
  expect(endpoint.world.db.runs.size).toBe(1);
});

describe('a signed SSL check', () => {
  test('is answered with 200 and does nothing, whatever else it contains', async () => {
    const endpoint = new SlackEndpoint([deploy]);
    for (const form of [{ ssl_check: '1', token: 'x' }, commandForm({ ssl_check: '1' })]) {
      const answer = await endpoint.post({ form });
      expect([answer.status, await answer.text()]).toEqual([200, '']);
    }
    expect(endpoint.written()).toBe(0);
  });
});

describe('a fault of the installation', () => {
  const broken = () => {
    throw new Error('SLACK_ something is empty');
  };
  test.each([
    ['no secret', { secrets: broken }],
    ['a mapping that cannot be read', { tenants: broken }],
  ])('%s is a 500 without details', async (_, deps) => {
    const endpoint = new SlackEndpoint([deploy]);
    const answer = await endpoint.post({}, deps);
    expect(answer.status).toBe(500);
    expect(await answer.text()).not.toContain('SLACK_');
    expect(endpoint.lines).toMatchObject([{ level: 'error', event: 'request_failed' }]);
    expect(endpoint.written()).toBe(0);
  });
});

test('an unsigned request is only told that it is unsigned', async () => {
  const endpoint = new SlackEndpoint([deploy]);
  const body = 'a=%zz&a';
  const answer = await endpoint.post({ body, headers: { 'x-slack-signature': sign(`${body} `, '0') } });
  expect(answer.status).toBe(401);
});

test('a form is decoded as a browser would have encoded it', () => {
  const fields = { text: 'a+b & c=d ü 😀 %', empty: '', 'na me': '=' };
  expect(Object.fromEntries(parseForm(new URLSearchParams(fields).toString()))).toEqual(fields);
});

describe('SLACK_TENANTS', () => {
  test('maps teams to tenants', () => {
    expect([...tenantsIn(' T1=acme, T2=acme ,T3=other.co-1 ')]).toEqual([
      ['T1', 'acme'],
      ['T2', 'acme'],
      ['T3', 'other.co-1'],
    ]);
    expect(tenantsIn('').size).toBe(0);
  });

  test.each(['T1', 'T1=', '=acme', 't1=acme', 'T1=a=b', 'T1=a b', 'T1=a,T1=b'])('refuses %j', (parameter) => {
    expect(() => tenantsIn(parameter)).toThrow('SLACK_TENANTS');
  });
});
