/** The workflows that are shipped. A new one, or a new version of one, is added here and nowhere else. */
import type { Workflow } from 'cairn';
import type { DeployTarget } from './deploy/target.ts';
import { deployToldInSlack } from './deploy/told-in-slack.ts';
import { deployTo } from './deploy/workflow.ts';
import type { Janitor } from './nightly-cleanup/janitor.ts';
import { nightlyCleanupBy } from './nightly-cleanup/workflow.ts';
import { reviewPullRequest1 } from './review-pull-request/earlier/version-1.ts';
import { reviewPullRequest2 } from './review-pull-request/earlier/version-2.ts';
import { reviewPullRequestThat } from './review-pull-request/workflow.ts';

/** What an installation gives the workflows to act upon. One that acts upon nothing is always there. */
export interface Outside {
  readonly deployTarget?: DeployTarget;
  readonly janitor?: Janitor;
  /** Where reviews are posted, and whether it is there: asked when a run comes to it. */
  readonly github?: { readonly isThere: () => boolean };
  /** Whether deployments can be asked for in Slack, and answered there. */
  readonly slack?: boolean;
}

export function shippedWorkflows({ deployTarget, janitor, github, slack }: Outside): readonly Workflow[] {
  return [
    reviewPullRequest1,
    reviewPullRequest2,
    ...(github ? [reviewPullRequestThat(() => github.isThere())] : []),
    ...(deployTarget ? [deployTo(deployTarget)] : []),
    ...(deployTarget && slack ? [deployToldInSlack(deployTarget)] : []),
    ...(janitor ? [nightlyCleanupBy(janitor)] : []),
  ];
}

/** Those that need nothing of outside. */
export const workflows: readonly Workflow[] = shippedWorkflows({});
