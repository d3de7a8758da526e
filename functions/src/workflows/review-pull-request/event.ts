/**
 * Owns the part of GitHub's `pull_request` webhook payload that the review uses.
 *
 * Must not: contain fields that no step uses, because a run stores all of them as its input. Parsing drops all other fields of
 * the payload, so changes of these do not matter.
 */
import { z } from 'zod';

/** GitHub allows 65,536 characters. The review uses the beginning, to keep the input of a run small. */
export const MAX_BODY_CHARS = 4_000;

const Account = z.object({ login: z.string(), type: z.string().optional() });

/** `null` if the account was deleted. */
const MaybeAccount = Account.nullable();

const Count = z.int().nonnegative();

/** Has an example that GitHub accepts, because clients prefill forms with it. */
const RepositoryName = z.string().meta({ examples: ['acme/uploader'] });

/** SHA of a commit, with an example for forms. */
const Sha = z.string().meta({ examples: ['6dcb09b5b57875f334f61aebed695e2e4193db5e'] });

const PullRequest = z.object({
  number: z.int().positive(),
  title: z.string(),
  body: z
    .string()
    .transform((body) => beginning(body, MAX_BODY_CHARS))
    .nullish(),
  html_url: z.string(),
  /** Absent on servers without draft pull requests. */
  draft: z.boolean().optional(),
  user: MaybeAccount,
  author_association: z.string(),
  /** `head.repo` is `null` if the fork was deleted. */
  head: z.object({ ref: z.string(), sha: Sha, repo: z.object({ full_name: RepositoryName }).nullable() }),
  base: z.object({
    ref: z.string(),
    sha: Sha,
    repo: z.object({ full_name: RepositoryName, default_branch: z.string() }),
  }),
  labels: z.array(z.object({ name: z.string() })),
  assignees: z.array(MaybeAccount),
  requested_reviewers: z.array(MaybeAccount),
  requested_teams: z.array(z.object({ name: z.string() })),
  additions: Count,
  deletions: Count,
  changed_files: Count,
  commits: Count,
  /** `dirty` means merge conflicts; `unknown` until GitHub has computed it. */
  mergeable_state: z.string().optional(),
});

/** Actions that change what a reviewer sees. A closed or relabelled pull request needs no new review. */
export const REVIEWED = {
  event: 'pull_request',
  actions: ['opened', 'reopened', 'synchronize', 'ready_for_review', 'edited'],
} as const;

/** Payload of the webhook event `pull_request`, whatever its action. */
export const PullRequestEvent = z.object({
  action: z.string(),
  number: z.int().positive(),
  pull_request: PullRequest,
  repository: z.object({ full_name: RepositoryName, owner: Account }),
  sender: Account,
});

export type PullRequestEvent = z.output<typeof PullRequestEvent>;

/** Does not split a surrogate pair, because half of one could not be stored. */
export function beginning(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const cut = text.slice(0, maxChars);
  return cut.isWellFormed() ? cut : cut.slice(0, -1);
}
