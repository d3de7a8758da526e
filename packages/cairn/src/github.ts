/** The shipped GitHub capabilities. */

export { createComment, MAX_COMMENT_CHARS } from './capabilities/github/create-comment.ts';
export { addLabels, removeLabel } from './capabilities/github/labels.ts';
export { MAX_DESCRIPTION_CHARS, setCommitStatus } from './capabilities/github/set-commit-status.ts';
export { type GithubApiAccess, githubBindingsAt } from './platform/shipped-bindings.ts';
