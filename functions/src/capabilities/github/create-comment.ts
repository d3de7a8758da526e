/**
 * `github.create-comment`: a comment on an issue or pull request.
 *
 * GitHub takes no idempotency key. So the key stands in the comment itself, in an HTML comment that nobody sees, and after
 * an answer that was lost the comments are looked through for it.
 */
import { z } from 'zod';
import { type Binding, defineBinding, defineCapability } from '../../engine/define/capability.ts';
import type { GithubApi } from './api.ts';
import { IssueNumber, ownerAndRepo, Repository } from './place.ts';

/** GitHub's limit of a body is 65,536; the marker needs some of it. */
export const MAX_COMMENT_CHARS = 65_000;
/** GitHub closes an issue for comments at 2,500. */
const MAX_PAGES = 26;

export const createComment = defineCapability({
  id: 'github.create-comment',
  sideEffects: 'external_action',
  idempotency: 'not_supported',
  request: z.object({
    repository: Repository,
    number: IssueNumber,
    /** Markdown. */
    body: z.string().min(1).max(MAX_COMMENT_CHARS),
  }),
  response: z.object({ id: z.number(), url: z.string() }),
});

export function createCommentBinding(api: GithubApi): Binding {
  return defineBinding(createComment, {
    id: 'github.create-comment.octokit',
    async call({ repository, number, body }, { idempotencyKey, signal }) {
      const made = await api.act({ what: `a comment on ${repository}#${number}`, signal }, (octokit) =>
        octokit('POST /repos/{owner}/{repo}/issues/{issue_number}/comments', {
          ...ownerAndRepo(repository),
          issue_number: number,
          body: `${body}\n\n${markerOf(idempotencyKey)}`,
        }),
      );
      return createComment.response.parse({ id: made.id, url: made.html_url });
    },
    lookup({ repository, number }, { idempotencyKey, signal }) {
      const marker = markerOf(idempotencyKey);
      return api.settled(signal, async () => {
        const there = await api.findIn(
          { what: `the comments of ${repository}#${number}`, signal, maxPages: MAX_PAGES },
          (octokit, page) =>
            octokit('GET /repos/{owner}/{repo}/issues/{issue_number}/comments', {
              ...ownerAndRepo(repository),
              issue_number: number,
              ...page,
            }),
          ({ body }) => body?.includes(marker) === true,
        );
        if (!there) return { found: false };
        return { found: true, response: createComment.response.parse({ id: there.id, url: there.html_url }) };
      });
    },
  });
}

function markerOf(idempotencyKey: string): string {
  return `<!-- cairn-effect: ${idempotencyKey} -->`;
}
