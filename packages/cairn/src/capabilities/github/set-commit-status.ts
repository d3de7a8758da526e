/**
 * `github.set-commit-status`: sets the status of a commit in one context (`cairn/review`); the newest one counts.
 *
 * GitHub supports no idempotency key, and keeps every status. So the link of the status contains the key, because GitHub
 * returns it unchanged, and after a lost response the statuses of the commit are searched for it.
 */
import { z } from 'zod';
import { type Binding, defineBinding, defineCapability } from '../../engine/define/capability.ts';
import type { GithubApi } from './api.ts';
import { CommitSha, ownerAndRepo, Repository } from './names.ts';

export const MAX_DESCRIPTION_CHARS = 140;
/** GitHub keeps 1,000 statuses of a commit and context; the newest come first. */
const MAX_PAGES = 10;
const MARKER = 'cairn-effect';

export const setCommitStatus = defineCapability({
  id: 'github.set-commit-status',
  sideEffects: 'external_action',
  idempotency: 'not_supported',
  request: z.object({
    repository: Repository,
    sha: CommitSha,
    context: z.string().min(1).max(100),
    state: z.enum(['error', 'failure', 'pending', 'success']),
    description: z.string().max(MAX_DESCRIPTION_CHARS),
    /** Page with details for people. A parameter is added to it. */
    targetUrl: z.url({ protocol: /^https?$/ }),
  }),
  response: z.object({ id: z.number() }),
});

/** The part of GitHub's status that is used. */
const Status = z.object({ id: z.number(), target_url: z.string().nullish() });
const Statuses = z.array(Status);

export function setCommitStatusBinding(api: GithubApi): Binding {
  return defineBinding(setCommitStatus, {
    id: 'github.set-commit-status.octokit',
    async call(
      { repository, sha, context, state, description, targetUrl },
      { idempotencyKey, signal, traceparent },
    ) {
      const made = await api.act({
        what: `a status of ${repository}@${sha}`,
        signal,
        traceparent,
        route: 'POST /repos/{owner}/{repo}/statuses/{sha}',
        parameters: {
          ...ownerAndRepo(repository),
          sha,
          state,
          context,
          description,
          target_url: marked(targetUrl, idempotencyKey),
        },
      });
      return { id: Status.parse(made).id };
    },
    lookup({ repository, sha }, { idempotencyKey, signal, attemptedAt, traceparent }) {
      return api.settled({ signal, attemptedAt }, async () => {
        const existing = await api.findIn({
          what: `the statuses of ${repository}@${sha}`,
          signal,
          traceparent,
          route: 'GET /repos/{owner}/{repo}/commits/{ref}/statuses',
          parameters: { ...ownerAndRepo(repository), ref: sha },
          maxPages: MAX_PAGES,
          itemsOf: (data) => Statuses.parse(data),
          matches: ({ target_url: url }) => keyIn(url) === idempotencyKey,
        });
        return existing ? { found: true, response: { id: existing.id } } : { found: false };
      });
    },
  });
}

function marked(targetUrl: string, idempotencyKey: string): string {
  const url = new URL(targetUrl);
  url.searchParams.set(MARKER, idempotencyKey);
  return url.href;
}

function keyIn(url: string | null | undefined): string | undefined {
  if (!url || !URL.canParse(url)) return undefined;
  return new URL(url).searchParams.get(MARKER) ?? undefined;
}
