/** The workflows this deployment can run. A new one, or a new version of one, is added here and nowhere else. */
import type { Workflow } from '../engine/define/steps.ts';
import { reviewPullRequest } from './review-pull-request/workflow.ts';

export const workflows: readonly Workflow[] = [reviewPullRequest];
