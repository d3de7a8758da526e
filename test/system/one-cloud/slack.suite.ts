/** Slash commands and buttons of Slack. The clock of the cloud must not have been moved, because requests are signed with the time of this process. */
import { describe, expect, test } from '@jest/globals';
import { isRunId } from '../../../packages/cairn/src/core/encoding/ids.ts';
import { inspectJournal } from '../../../scripts/demo/journal.ts';
import {
  commandForm,
  pressOf,
  type SlackRequestOptions,
  slackRequest,
} from '../../triggers/slack/endpoint.ts';
import { type CloudStage, ended, eventually, tryGet } from '../support.ts';

interface Asking {
  readonly status: string;
  readonly waits: readonly { readonly id: string; readonly execution: { readonly stepId: string } }[];
}

/** The team that the local cloud connects. */
const TEAM = 'TLOCAL';

export function slack(stage: CloudStage): void {
  describe('Slack', () => {
    async function post(form: SlackRequestOptions['form'], secret = stage.cloud.ready.secrets.slack) {
      const { headers, method, body } = slackRequest({ form, secret, now: Date.now() });
      const url = `${stage.cloud.ready.gateway}/webhooks/slack`;
      const answer = await fetch(url, { method, headers, body: await new Response(body).text() });
      return { status: answer.status, text: ((await answer.json()) as { text?: string }).text ?? '' };
    }

    async function command(trigger: string): Promise<string> {
      const form = commandForm({ team_id: TEAM, command: '/chat', text: 'go on', trigger_id: trigger });
      // On a slow machine the first answer may report a delay.
      const runId = await eventually('an answer that names the run', async () => {
        const { status, text } = await post(form);
        expect(status).toBe(200);
        return /^Started `chatted`: run `(\w+)`\.$/.exec(text)?.[1];
      });
      expect(isRunId(runId)).toBe(true);
      return runId;
    }

    const asking = (runId: string) =>
      eventually(`run ${runId} to ask`, async () => {
        const run = await tryGet<Asking>(stage.cloud.ready, `/v1/runs/${runId}`);
        return run?.status === 'awaiting_approval' ? run.waits[0] : undefined;
      });

    test('a command starts a run that asks for approval, and a button approves it', async () => {
      const runId = await command('1.1');
      const wait = await asking(runId);
      const value = { runId, stepId: wait.execution.stepId, waitId: wait.id, decision: 'approve' };
      const more = { team: { id: TEAM }, user: { id: 'U7', team_id: TEAM } };
      const payload = JSON.stringify(pressOf(value, more));
      const first = await post({ payload });
      expect(first).toEqual({ status: 200, text: `Approved by <@U7>: \`agree\` of run \`${runId}\`.` });
      expect(await post({ payload })).toEqual(first);
      expect(await ended(stage.cloud.ready, runId)).toMatchObject({
        status: 'completed',
        tenantId: 'local',
        trigger: { userId: `s.${TEAM}.U1` },
        result: { by: `s.${TEAM}.U7` },
      });
      expect((await inspectJournal(stage.cloud.ready, runId)).intact).toBe(true);
      expect((await post({ payload })).text).toBe(first.text);
    });

    test('200 concurrent commands with 10 trigger ids make 10 runs, and each response names its run', async () => {
      const triggers = Array.from({ length: 200 }, (_, i) => `2.${i % 10}`);
      const runIds = await Promise.all(triggers.map(command));
      expect(new Set(runIds).size).toBe(10);
      runIds.forEach((runId, i) => {
        expect(runId).toBe(runIds[i % 10]);
      });
    });

    test('a request that is not from Slack, or from a team that is not connected, starts nothing', async () => {
      const form = commandForm({ team_id: TEAM, command: '/chat', trigger_id: '3.1' });
      expect((await post(form, 'not the secret')).status).toBe(401);
      const stranger = await post({ ...form, team_id: 'TOTHER' });
      expect(stranger).toMatchObject({ status: 200, text: expect.stringContaining('not connected') });
      const read = await fetch(`${stage.cloud.ready.gateway}/webhooks/slack`);
      expect(read.status).toBe(405);
    });
  });
}
