import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import {
  type CloudProcess,
  control,
  getJson,
  startCloudProcess,
} from '../../../packages/local/src/cloud-process.ts';
import { builtFunctions } from '../../../scripts/test-functions/built.ts';
import { type ScriptedServer, startScriptedServer } from '../../capabilities/scripted-server.ts';
import { commandForm, slackRequest } from '../../triggers/slack/endpoint.ts';
import { ended, eventually, send, tryGet } from '../support.ts';

const folder = mkdtempSync(join(tmpdir(), 'cairn-slack-answer-'));
let hook: ScriptedServer;
let cloud: CloudProcess;
beforeAll(async () => {
  hook = await startScriptedServer();
  hook.answers = [{ status: 200, body: { healthy: true } }];
  cloud = await startCloudProcess({
    data: join(folder, 'data'),
    keepsSpare: false,
    functionsModule: builtFunctions(join(import.meta.dirname, '../../../functions/src/index.ts')),
    env: { DEPLOY_HOOK_URL: hook.url },
  });
});
afterAll(async () => {
  cloud.process.kill('SIGTERM');
  await Promise.all([cloud.ended, hook.stop()]);
  rmSync(folder, { recursive: true, force: true });
});

/** Types `/deploy`, and lets the CI say that the build is green. */
async function deployed(address: string, sha: string): Promise<string> {
  const { gateway, secrets } = cloud.ready;
  const form = commandForm({
    team_id: 'TLOCAL',
    command: '/deploy',
    text: `shop staging 1.1.0 1.0.0 ${sha} 1ms`,
    trigger_id: sha,
    response_url: `https://hooks.slack.com${address}`,
  });
  const { headers, method, body } = slackRequest({ form, secret: secrets.slack, now: Date.now() });
  const request = { method, headers, body: await new Response(body).text() };
  // On a busy machine the first response may only say that the start takes longer. The same command names the run.
  const runId = await eventually('the run of the command', async () => {
    const { text } = (await (await fetch(`${gateway}/webhooks/slack`, request)).json()) as { text: string };
    return /^Started `deploy`: run `(\w+)`\.$/.exec(text)?.[1];
  });
  const event = { event: 'ci.finished', key: sha, data: { conclusion: 'success' } };
  const sent = await send(cloud.ready, { path: '/v1/events', body: event });
  expect(sent.status).toBe(200);
  return runId;
}

async function messagesAt(address: string): Promise<readonly { text: string }[]> {
  return (await (await fetch(cloud.ready.slack + address)).json()) as { text: string }[];
}

interface Effects {
  readonly items: readonly { readonly id: string; readonly status: string }[];
}

test('a deployment started from Slack answers there, and the ledger does not store the response URL', async () => {
  const address = '/commands/T1/1/s3cret';
  const runId = await deployed(address, 'a'.repeat(40));
  expect(await ended(cloud.ready, runId)).toMatchObject({ status: 'completed' });
  expect(await messagesAt(address)).toMatchObject([
    {
      response_type: 'in_channel',
      text: expect.stringMatching(/^The deployment of \*shop\* .* succeeded/),
    },
  ]);
  const effects = await getJson<Effects>(cloud.ready, `/v1/runs/${runId}/effects`);
  expect(effects.items).toMatchObject([{ status: 'recorded' }]);
  expect(JSON.stringify(effects)).not.toContain('s3cret');
  const run = await getJson<{ input: object }>(cloud.ready, `/v1/runs/${runId}`);
  expect(run.input).toMatchObject({ replyTo: '[redacted]' });
  expect(JSON.stringify(run)).not.toContain('s3cret');
});

test('a message with an unknown outcome is asked about and not sent again', async () => {
  const rules = [{ probability: 1, times: 1, fault: { kind: 'lost-answer' } }];
  await control(cloud.ready, 'PUT', '/faults/slack', { seed: 1, rules });
  const address = '/commands/T1/2/s3cret';
  const runId = await deployed(address, 'b'.repeat(40));
  const effectId = await eventually('the run to ask', async () => {
    const run = await tryGet<{ status: string; waits: { effectId?: string }[] }>(
      cloud.ready,
      `/v1/runs/${runId}`,
    );
    return run?.status === 'awaiting_approval' ? run.waits[0]?.effectId : undefined;
  });
  const path = `/v1/runs/${runId}/effects/${effectId}/resolve`;
  const body = { outcome: 'recorded', result: {}, note: 'it stands in the channel' };
  const response = await send(cloud.ready, { path, body });
  expect(response.status).toBe(200);
  expect(await ended(cloud.ready, runId)).toMatchObject({ status: 'completed' });
  expect(await messagesAt(address)).toHaveLength(1);
});
