/**
 * Deploys one version of one service: waits for the CI, asks for approval if required, releases, checks health, and
 * rolls back in reverse order if it fails or is cancelled. With Slack, new runs use the plan of with-slack.ts, which
 * adds only Slack.
 */
import { defineWorkflow, Fatal, type StepFactory, type Workflow } from 'cairn';
import { callFrom } from '../outside-call.ts';
import { ciReportOf } from './cloud-build.ts';
import { CiReport, DeployRequest, needsApproval, placeOf } from './request.ts';
import type { DeployTarget } from './target.ts';

/** Messages that start a deployment, and messages that a deployment waits for, by topic. */
export const MESSAGES = [{ topic: 'deploy-requests' }, { topic: 'cloud-builds', deliver: ciReportOf }];

export function deployTo(target: DeployTarget): Workflow {
  return defineWorkflow({
    type: 'deploy',
    planVersion: 1,
    input: DeployRequest,
    timeout: '7d',
    on: { pubsub: MESSAGES },
    steps: (step) => deploymentSteps(step, target),
  });
}

/** Steps shared by all plans of a deployment. */
export function deploymentSteps(step: StepFactory<DeployRequest>, target: DeployTarget) {
  // Also verifies that the target is reachable, before a person is asked.
  const before = step('look-first', async (context) => {
    const release = { ...placeOf(context.input), version: context.input.previousVersion };
    return { release, health: await target.health(release, callFrom(context)) };
  });
  const ci = step.event('ci', {
    event: 'ci.finished',
    key: ({ input }) => input.sha,
    output: CiReport,
    timeout: '2h',
  });
  const built = step('require-green', { needs: { ci } }, ({ ci, input }) => {
    if (ci.conclusion !== 'success') throw new Fatal(`the CI of ${input.sha} ended with '${ci.conclusion}'`);
    return ci;
  });
  const agreed = step.approval('agree', {
    needs: { built, before },
    when: ({ input }) => needsApproval(input),
    ask: ({ input, built, before }) => ({
      question: `Deploy ${input.service} ${input.version} to ${input.environment}?`,
      details: { replaces: input.previousVersion, sha: input.sha, ci: built, now: before.health },
    }),
    timeout: '24h',
    escalate: { after: '4h', text: 'The build passed and is waiting for approval.' },
  });
  const locked = step(
    'lock',
    {
      needs: { agreed },
      ifSkipped: 'run',
      // Another deployment may hold the lock for some time.
      retry: { maxAttempts: 10, initialMs: 10_000, capMs: 300_000 },
      compensate: (context) => target.unlock(placeOf(context.input), callFrom(context, 'undo')),
    },
    async (context) => {
      await target.lock(placeOf(context.input), callFrom(context));
      return true;
    },
  );
  // A release that fails in part has not completed, so the compensation of this step rolls it back.
  const prepared = step(
    'prepare',
    {
      needs: { locked, before },
      compensate: (context) => target.rollBack(context.before.release, callFrom(context, 'undo')),
    },
    ({ before }) => ({ backTo: before.release.version }),
  );
  const released = step('release', { needs: { prepared } }, async (context) => {
    const release = { ...placeOf(context.input), version: context.input.version };
    await target.release(release, callFrom(context));
    return release;
  });
  const soaked = step.sleep('soak', { needs: { released }, for: ({ input }) => input.soak });
  const health = step('check-health', { needs: { released, soaked } }, async (context) => {
    const health = await target.health(context.released, callFrom(context));
    if (health.healthy) return health;
    throw new Fatal(`${context.released.version} is unhealthy: ${health.detail ?? 'no detail'}`);
  });
  const unlocked = step(
    'unlock',
    // A healthy release is kept, even if the lock cannot be released.
    { needs: { health }, onFailure: { degradeTo: false } },
    async (context) => {
      await target.unlock(placeOf(context.input), callFrom(context));
      return true;
    },
  );
  return { released, health, unlocked };
}
