/** Effects at the stand-ins of Slack and GitHub, over one local cloud. Ordered, because the second suite kills the worker and moves the clock. */
import { afterAll, describe } from '@jest/globals';
import { type ScriptedServer, startScriptedServer } from '../../capabilities/scripted-server.ts';
import { setCloud } from '../support.ts';
import { posting } from './posting.suite.ts';
import { slackAnswers } from './slack-answer.suite.ts';

describe('over one cloud,', () => {
  let hook: ScriptedServer;
  const stage = setCloud('sqlite', async () => {
    hook = await startScriptedServer();
    hook.answers = [{ status: 200, body: { healthy: true } }];
    const ofGithubJob = { GITHUB_API_URL: 'https://api.github.invalid', GITHUB_TOKEN: 'real' };
    return { functions: 'shipped', isDisturbed: true, env: { DEPLOY_HOOK_URL: hook.url, ...ofGithubJob } };
  });
  afterAll(() => hook.stop());
  slackAnswers(stage);
  posting(stage);
});
