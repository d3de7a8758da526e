/** Answers to slash commands at the stand-in of Slack. The clock of the cloud must not have been moved, because requests are signed with the time of this process. */
import { expect, test } from '@jest/globals';
import { control, getJson } from '../../../packages/local/src/cloud-process.ts';
import { commandForm, slackRequest } from '../../triggers/slack/endpoint.ts';
import { type CloudStage, ended, eventually, send, tryGet } from '../support.ts';

interface Effects {
  readonly items: readonly { readonly id: string; readonly status: string }[];
}

/** @param stage its cloud deploys to a hook that answers 200 */
export function slackAnswers(stage: CloudStage): void {
  /** Sends `/deploy`, and an event of the CI that the build has passed. */
  async function deployed(address: string, sha: string): Promise<string> {
    const { gateway, secrets } = stage.cloud.ready;
    const form = commandForm({
      team_id: 'TLOCAL',
      command: '/deploy',
      text: `shop staging 1.1.0 1.0.0 ${sha} 1ms`,
      trigger_id: sha,
      response_url: `https://hooks.slack.com${address}`,
    });
    const { headers, method, body } = slackRequest({ form, secret: secrets.slack, now: Date.now() });
    const request = { method, headers, body: await new Response(body).text() };
    // On a busy machine the first response may report a delay. Repeating the command then returns the run.
    const runId = await eventually('the run of the command', async () => {
      const { text } = (await (await fetch(`${gateway}/webhooks/slack`, request)).json()) as { text: string };
      return /^Started `deploy`: run `(\w+)`\.$/.exec(text)?.[1];
    });
    const event = { event: 'ci.finished', key: sha, data: { conclusion: 'success' } };
    const sent = await send(stage.cloud.ready, { path: '/v1/events', body: event });
    expect(sent.status).toBe(200);
    return runId;
  }

  async function messagesAt(address: string): Promise<readonly { text: string }[]> {
    return (await (await fetch(stage.cloud.ready.slack + address)).json()) as { text: string }[];
  }

  test('a deployment started from Slack answers there, and the ledger does not store the response URL', async () => {
    const address = '/commands/T1/1/s3cret';
    const runId = await deployed(address, 'a'.repeat(40));
    expect(await ended(stage.cloud.ready, runId)).toMatchObject({ status: 'completed' });
    expect(await messagesAt(address)).toMatchObject([
      {
        response_type: 'in_channel',
        text: expect.stringMatching(/^The deployment of \*shop\* .* succeeded/),
      },
    ]);
    const effects = await getJson<Effects>(stage.cloud.ready, `/v1/runs/${runId}/effects`);
    expect(effects.items).toMatchObject([{ status: 'recorded' }]);
    expect(JSON.stringify(effects)).not.toContain('s3cret');
    const run = await getJson<{ input: object }>(stage.cloud.ready, `/v1/runs/${runId}`);
    expect(run.input).toMatchObject({ replyTo: '[redacted]' });
    expect(JSON.stringify(run)).not.toContain('s3cret');
  });

  test('a message with an unknown outcome is asked about and not sent again', async () => {
    const rules = [{ probability: 1, times: 1, fault: { kind: 'lost-answer' } }];
    await control(stage.cloud.ready, 'PUT', '/faults/slack', { seed: 1, rules });
    const address = '/commands/T1/2/s3cret';
    const runId = await deployed(address, 'b'.repeat(40));
    const effectId = await eventually('the run to ask', async () => {
      const run = await tryGet<{ status: string; waits: { effectId?: string }[] }>(
        stage.cloud.ready,
        `/v1/runs/${runId}`,
      );
      return run?.status === 'awaiting_approval' ? run.waits[0]?.effectId : undefined;
    });
    const path = `/v1/runs/${runId}/effects/${effectId}/resolve`;
    const body = { outcome: 'recorded', result: {}, note: 'it stands in the channel' };
    const response = await send(stage.cloud.ready, { path, body });
    expect(response.status).toBe(200);
    expect(await ended(stage.cloud.ready, runId)).toMatchObject({ status: 'completed' });
    expect(await messagesAt(address)).toHaveLength(1);
  });
}
