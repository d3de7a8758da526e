/** Real `pull_request` payloads, one event to vary for the rules, and the steps wired as the workflow wires them. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { PullRequestEvent } from '../../../functions/src/workflows/review-pull-request/event.ts';
import { suggestLabels } from '../../../functions/src/workflows/review-pull-request/labels.ts';
import { whoMustLook } from '../../../functions/src/workflows/review-pull-request/reviewers.ts';
import { assessRisk } from '../../../functions/src/workflows/review-pull-request/risk.ts';
import { measureSize } from '../../../functions/src/workflows/review-pull-request/size.ts';
import {
  type Findings,
  type ReviewSummary,
  summarise,
} from '../../../functions/src/workflows/review-pull-request/summary.ts';

interface Definition {
  readonly name: string;
  readonly examples: readonly { readonly action?: string; readonly [field: string]: unknown }[];
}

const require = createRequire(import.meta.url);

/** Payloads of github.com and of two GitHub Enterprise Servers. */
const COLLECTIONS = ['api.github.com', 'ghes-31', 'ghes-34'];

function definitions(collection: string): readonly Definition[] {
  const path = require.resolve(`@octokit/webhooks-examples/${collection}/index.json`);
  return JSON.parse(readFileSync(path, 'utf8')) as Definition[];
}

/** Every published example of the event, with a name for the test report. */
export const REAL_PAYLOADS = COLLECTIONS.flatMap((collection) =>
  definitions(collection)
    .filter(({ name }) => name === 'pull_request')
    .flatMap(({ examples }) => examples)
    .map((payload, index) => ({ title: `${collection} ${index} ${payload.action ?? ''}`, payload })),
);

const EVENT: PullRequestEvent = {
  action: 'opened',
  number: 7,
  pull_request: {
    number: 7,
    title: 'Show prices with tax',
    body: 'Customers asked for it.',
    html_url: 'https://github.com/acme/shop/pull/7',
    draft: false,
    user: { login: 'ada', type: 'User' },
    author_association: 'MEMBER',
    head: { ref: 'prices', sha: 'b'.repeat(40), repo: { full_name: 'acme/shop' } },
    base: { ref: 'main', sha: 'a'.repeat(40), repo: { full_name: 'acme/shop', default_branch: 'main' } },
    labels: [],
    assignees: [],
    requested_reviewers: [],
    requested_teams: [],
    additions: 20,
    deletions: 5,
    changed_files: 3,
    commits: 2,
    mergeable_state: 'clean',
  },
  repository: { full_name: 'acme/shop', owner: { login: 'acme', type: 'Organization' } },
  sender: { login: 'ada', type: 'User' },
};

/** An unremarkable event with the given fields of the pull request changed. */
export function eventWith(
  changes: Partial<PullRequestEvent['pull_request']> = {},
  repository: Partial<PullRequestEvent['repository']> = {},
): PullRequestEvent {
  return {
    ...EVENT,
    pull_request: { ...EVENT.pull_request, ...changes },
    repository: { ...EVENT.repository, ...repository },
  };
}

/** All findings about an event, and their summary. */
export function reviewOf(event: PullRequestEvent): Findings & { readonly summary: ReviewSummary } {
  const size = measureSize(event);
  const findings = {
    event,
    size,
    risk: assessRisk(event, size),
    labels: suggestLabels(event, size),
    review: whoMustLook(event, size),
  };
  return { ...findings, summary: summarise(findings) };
}
