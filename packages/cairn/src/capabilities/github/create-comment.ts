/**
 * `github.create-comment`: a comment on an issue or pull request.
 *
 * GitHub supports no idempotency key. So the comment contains the key, in an invisible HTML comment, and after a lost
 * response the comments are searched for it.
 */
import { z } from 'zod';
import { type Binding, defineBinding, defineCapability } from '../../engine/define/capability.ts';
import type { GithubApi } from './api.ts';
import { IssueNumber, ownerAndRepo, Repository } from './names.ts';

/** GitHub's limit of a body is 65,536; the difference is for the marker. */
export const MAX_COMMENT_CHARS = 65_000;
/** GitHub allows 2,500 comments on an issue. */
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

/** The part of GitHub's comment that is used. */
const Comment = z.object({ id: z.number(), html_url: z.string(), body: z.string().nullish() });
const Comments = z.array(Comment);

const ROUTE = '/repos/{owner}/{repo}/issues/{issue_number}/comments';

export function createCommentBinding(api: GithubApi): Binding {
  return defineBinding(createComment, {
    id: 'github.create-comment.octokit',
    async call({ repository, number, body }, { idempotencyKey, signal, traceparent }) {
      const made = await api.act({
        what: `a comment on ${repository}#${number}`,
        signal,
        traceparent,
        route: `POST ${ROUTE}`,
        parameters: {
          ...ownerAndRepo(repository),
          issue_number: number,
          body: `${body}\n\n${markerOf(idempotencyKey)}`,
        },
      });
      return responseOf(Comment.parse(made));
    },
    lookup({ repository, number }, { idempotencyKey, signal, attemptedAt, traceparent }) {
      const marker = markerOf(idempotencyKey);
      return api.settled({ signal, attemptedAt }, async () => {
        const existing = await api.findIn({
          what: `the comments of ${repository}#${number}`,
          signal,
          traceparent,
          route: `GET ${ROUTE}`,
          parameters: { ...ownerAndRepo(repository), issue_number: number },
          maxPages: MAX_PAGES,
          itemsOf: (data) => Comments.parse(data),
          matches: ({ body }) => body?.includes(marker) === true,
        });
        return existing ? { found: true, response: responseOf(existing) } : { found: false };
      });
    },
  });
}

function responseOf({ id, html_url: url }: z.output<typeof Comment>) {
  return { id, url };
}

function markerOf(idempotencyKey: string): string {
  return `<!-- cairn-effect: ${idempotencyKey} -->`;
}
