/**
 * Reviewers of a pull request, and the number of required approvals.
 *
 * Must not: invent people. It names those in the payload, and a role if the payload has no suitable person.
 */
import type { PullRequestEvent } from './event.ts';
import { isBreaking, isDraft, isNewcomer, isReleaseBranch, sensitiveWord } from './signals.ts';
import type { PullRequestSize } from './size.ts';

type Reviewer = {
  readonly kind: 'person' | 'team' | 'role';
  /** Login, name of the team, or description of the role. */
  readonly who: string;
  readonly because: string;
};

export type ReviewAdvice = {
  /** Without duplicates and without the author. */
  readonly reviewers: readonly Reviewer[];
  /** Approvals needed before the merge. */
  readonly approvals: number;
  /** A draft needs no reviewers yet. */
  readonly when: 'now' | 'when ready';
};

export function whoMustLook(event: PullRequestEvent, size: PullRequestSize): ReviewAdvice {
  const author = event.pull_request.user?.login.toLowerCase();
  const seen = new Set<string>();
  const reviewers = [...named(event), ...roles(event, size)].filter(({ kind, who }) => {
    const isAuthor = kind === 'person' && who.toLowerCase() === author;
    const key = `${kind} ${who.toLowerCase()}`;
    if (isAuthor || seen.has(key)) return false;
    seen.add(key);
    return true;
  });
  return {
    reviewers: reviewers.length > 0 ? reviewers : fallback(event),
    approvals: needsTwo(event, size) ? 2 : 1,
    when: isDraft(event) ? 'when ready' : 'now',
  };
}

/** People and teams in the payload. */
function named({ pull_request: pr }: PullRequestEvent): readonly Reviewer[] {
  return [
    ...logins(pr.requested_reviewers).map((who) => person(who, 'their review was requested')),
    ...pr.requested_teams.map(({ name }) => team(name, 'its review was requested')),
    ...logins(pr.assignees).map((who) => person(who, 'it is assigned to them')),
  ];
}

/** Reviewer roles that the change requires. */
function roles(event: PullRequestEvent, size: PullRequestSize): readonly Reviewer[] {
  const word = sensitiveWord(event);
  return [
    ...(word === undefined ? [] : [role('somebody responsible for security', `it is about "${word}"`)]),
    ...(isBreaking(event) ? [role('a maintainer', 'it breaks what others rely on')] : []),
    ...(isReleaseBranch(event) ? [role('a maintainer', 'it changes a release branch')] : []),
    ...(isNewcomer(event) ? [role('a maintainer', 'its author is new here')] : []),
    ...(size.bucket === 'XL' ? [role('a second reader', 'it is too large for one')] : []),
  ];
}

/** The owner of the repository, unless that is the author or an organization, which cannot review. */
function fallback({ repository, pull_request: pr }: PullRequestEvent): readonly Reviewer[] {
  const { owner } = repository;
  const readable = owner.type === 'User' && owner.login.toLowerCase() !== pr.user?.login.toLowerCase();
  return readable
    ? [person(owner.login, 'they own the repository')]
    : [role('any other contributor', 'nobody was asked yet')];
}

function needsTwo(event: PullRequestEvent, size: PullRequestSize): boolean {
  return size.bucket === 'XL' || isBreaking(event) || sensitiveWord(event) !== undefined;
}

function logins(accounts: readonly ({ readonly login: string } | null)[]): readonly string[] {
  return accounts.flatMap((account) => (account === null ? [] : [account.login]));
}

function person(who: string, because: string): Reviewer {
  return { kind: 'person', who, because };
}

function team(who: string, because: string): Reviewer {
  return { kind: 'team', who, because };
}

function role(who: string, because: string): Reviewer {
  return { kind: 'role', who, because };
}
