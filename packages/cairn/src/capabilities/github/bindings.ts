/** Bindings of an installation with GitHub configured. Add new GitHub capabilities here. */
import type { Binding } from '../../engine/define/capability.ts';
import type { GithubApi } from './api.ts';
import { createCheckRunBinding } from './create-check-run.ts';
import { createCommentBinding } from './create-comment.ts';
import { addLabelsBinding, removeLabelBinding } from './labels.ts';
import { setCommitStatusBinding } from './set-commit-status.ts';

export function githubBindings(api: GithubApi): readonly Binding[] {
  return [
    createCommentBinding(api),
    setCommitStatusBinding(api),
    addLabelsBinding(api),
    removeLabelBinding(api),
    createCheckRunBinding(api),
  ];
}
