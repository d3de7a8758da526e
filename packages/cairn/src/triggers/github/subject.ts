/** Subject of a delivery: repository, pull request, thread. Reads payloads of all event types. */
import { githubSecondaryKey } from '../../core/encoding/idempotency-keys.ts';
import { isRecord } from '../../core/is-record.ts';
import type { GithubDelivery } from './delivery.ts';

export interface Subject {
  /** `owner/name`. */
  readonly repoId?: string;
  /** Number of the pull request. */
  readonly prId?: string | undefined;
  readonly prUrl?: string | undefined;
  /** Thread of all deliveries about one pull request or issue. */
  readonly threadId?: string;
}

const REPOSITORY = /^[\w.-]{1,100}\/[\w.-]{1,100}$/;
const ACTION = /^[a-z_]{1,64}$/;
const MAX_URL_CHARS = 2_000;

export function subjectOf({ payload }: GithubDelivery): Subject {
  const repoId = textIn(payload.repository, 'full_name');
  if (repoId === undefined || !REPOSITORY.test(repoId)) return {};
  const pullRequest = pullRequestIn(payload);
  const number = pullRequest?.number ?? numberIn(payload.issue);
  const thread = `github:${repoId}`;
  return {
    repoId,
    threadId: number === undefined ? thread : `${thread}#${number}`,
    prId: pullRequest && String(pullRequest.number),
    prUrl: pullRequest?.url,
  };
}

/** Key of the change, independent of the webhook, the delivery id and the number of deliveries. */
export function contentKey(
  { event, action, payload }: GithubDelivery,
  { repoId, prId }: Subject,
  tenantId: string,
): string {
  return githubSecondaryKey({
    tenantId,
    repo: repoId,
    pullRequest: prId === undefined ? undefined : Number(prId),
    event,
    // Any other action is in the payload, which is compared as a whole.
    action: action !== undefined && ACTION.test(action) ? action : undefined,
    payload,
  });
}

interface PullRequest {
  readonly number: number;
  readonly url: string | undefined;
}

/** GitHub sends a comment on a pull request as one on an issue that is marked as a pull request. */
function pullRequestIn({ pull_request, issue }: GithubDelivery['payload']): PullRequest | undefined {
  const isIssueOfOne = isRecord(issue) && isRecord(issue.pull_request);
  const source = isRecord(pull_request) ? pull_request : isIssueOfOne ? issue : undefined;
  const number = numberIn(source);
  if (number === undefined) return undefined;
  const url = textIn(source, 'html_url');
  const isLink = url !== undefined && url.length <= MAX_URL_CHARS && url.startsWith('https://');
  return { number, url: isLink ? url : undefined };
}

function numberIn(value: unknown): number | undefined {
  const number = isRecord(value) ? value.number : undefined;
  return typeof number === 'number' && Number.isSafeInteger(number) && number > 0 ? number : undefined;
}

function textIn(value: unknown, name: string): string | undefined {
  const text = isRecord(value) ? value[name] : undefined;
  return typeof text === 'string' ? text : undefined;
}
