/**
 * `github.create-check-run`: reports the result of a check of a commit, with a text. GitHub accepts check runs only from GitHub
 * Apps, so the token must belong to an installation.
 *
 * GitHub supports no idempotency key, but an id from the caller: `external_id` is the key. After a lost response the check runs of
 * the commit are searched for it.
 */
import { z } from 'zod';
import { type Binding, defineBinding, defineCapability } from '../../engine/define/capability.ts';
import type { GithubApi } from './api.ts';
import { CommitSha, ownerAndRepo, Repository } from './names.ts';

/** GitHub returns at most 1,000 per commit. */
const MAX_PAGES = 10;
const MAX_TEXT_CHARS = 65_000;

const createCheckRun = defineCapability({
  id: 'github.create-check-run',
  sideEffects: 'external_action',
  idempotency: 'not_supported',
  request: z.object({
    repository: Repository,
    sha: CommitSha,
    name: z.string().min(1).max(100),
    conclusion: z.enum([
      'action_required',
      'cancelled',
      'failure',
      'neutral',
      'success',
      'skipped',
      'timed_out',
    ]),
    title: z.string().min(1).max(255),
    /** Markdown. */
    summary: z.string().max(MAX_TEXT_CHARS),
    detailsUrl: z.url({ protocol: /^https?$/ }).optional(),
  }),
  /** Null if GitHub returns no link. */
  response: z.object({ id: z.number(), url: z.string().nullable() }),
});

/** The part of GitHub's check run that is used. */
const CheckRun = z.object({
  id: z.number(),
  html_url: z.string().nullable(),
  external_id: z.string().nullish(),
});
const CheckRuns = z.object({ check_runs: z.array(CheckRun) });

export function createCheckRunBinding(api: GithubApi): Binding {
  return defineBinding(createCheckRun, {
    id: 'github.create-check-run.octokit',
    async call(
      { repository, sha, name, conclusion, title, summary, detailsUrl },
      { idempotencyKey, signal, traceparent },
    ) {
      const made = await api.act({
        what: `a check run of ${repository}@${sha}`,
        signal,
        traceparent,
        route: 'POST /repos/{owner}/{repo}/check-runs',
        parameters: {
          ...ownerAndRepo(repository),
          head_sha: sha,
          name,
          external_id: idempotencyKey,
          status: 'completed',
          conclusion,
          output: { title, summary },
          ...(detailsUrl === undefined ? {} : { details_url: detailsUrl }),
        },
      });
      return responseOf(CheckRun.parse(made));
    },
    lookup({ repository, sha, name }, { idempotencyKey, signal, attemptedAt, traceparent }) {
      return api.settled({ signal, attemptedAt }, async () => {
        const existing = await api.findIn({
          what: `the check runs of ${repository}@${sha}`,
          signal,
          traceparent,
          route: 'GET /repos/{owner}/{repo}/commits/{ref}/check-runs',
          // Includes older check runs of the same name.
          parameters: { ...ownerAndRepo(repository), ref: sha, check_name: name, filter: 'all' },
          maxPages: MAX_PAGES,
          itemsOf: (data) => CheckRuns.parse(data).check_runs,
          matches: ({ external_id: id }) => id === idempotencyKey,
        });
        return existing ? { found: true, response: responseOf(existing) } : { found: false };
      });
    },
  });
}

function responseOf({ id, html_url: url }: z.output<typeof CheckRun>) {
  return { id, url };
}
