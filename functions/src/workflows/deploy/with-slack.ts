/**
 * The second plan of a deployment: a slash command can start it, and it reports its result in Slack. The other steps are those of
 * workflow.ts.
 */

import { CairnError, defineWorkflow, type SlackCommand, type Workflow } from 'cairn';
import { slackRespond } from 'cairn/slack';
import { z } from 'zod';
import { DeployRequest } from './request.ts';
import type { DeployTarget } from './target.ts';
import { deploymentSteps, MESSAGES } from './workflow.ts';

const USAGE = 'Usage: /deploy SERVICE ENVIRONMENT VERSION PREVIOUS-VERSION COMMIT [SOAK]';

const ToldRequest = DeployRequest.safeExtend({
  /** The `response_url` of the slash command, to which the result is sent. */
  replyTo: z.string().max(2_000).optional(),
});

type ToldRequest = z.output<typeof ToldRequest>;

export function deployWithSlack(target: DeployTarget): Workflow {
  return defineWorkflow({
    type: 'deploy',
    planVersion: 2,
    input: ToldRequest,
    secretInput: ['replyTo'],
    timeout: '7d',
    on: { pubsub: MESSAGES, slack: { command: '/deploy', input: requestOf } },
    steps(step) {
      // Completes first, so its compensation runs last, when nothing else is left to undo.
      step(
        'promise-an-answer',
        {
          when: ({ input }) => input.replyTo !== undefined,
          uses: [slackRespond],
          async compensate({ input, runId, perform }) {
            const text = `${described(input)} did not succeed. Its changes were rolled back. Run \`${runId}\`.`;
            await perform(slackRespond, { responseUrl: input.replyTo ?? '', text, to: 'channel' });
          },
        },
        () => true,
      );
      const { released, health, unlocked } = deploymentSteps(step, target);
      step(
        'tell',
        {
          needs: { health, unlocked },
          when: ({ input }) => input.replyTo !== undefined,
          uses: [slackRespond],
          // Slack accepts no message after 30 minutes. The deployment succeeds anyway.
          onFailure: 'skip',
        },
        async ({ input, unlocked, runId, perform }) => {
          const lock = unlocked ? '' : ' Its lock could not be released.';
          const text = `${described(input)} succeeded.${lock} Run \`${runId}\`.`;
          await perform(slackRespond, { responseUrl: input.replyTo ?? '', text, to: 'channel' });
          return true;
        },
      );
      return { released, health, unlocked };
    },
  });
}

/** @throws CairnError INVALID_INPUT with the format of the command */
function requestOf({ text, responseUrl }: SlackCommand): unknown {
  const [service, environment, version, previousVersion, sha, soak, ...more] = text
    .split(/\s+/)
    .filter(Boolean);
  if (sha === undefined || more.length > 0) throw new CairnError('INVALID_INPUT', USAGE);
  const request = { service, environment, version, previousVersion, sha, replyTo: responseUrl };
  return soak === undefined ? request : { ...request, soak };
}

/** Names cannot contain Slack markup (request.ts). */
function described({ service, environment, version }: ToldRequest): string {
  return `The deployment of *${service}* ${version} to ${environment}`;
}
