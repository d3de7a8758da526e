/**
 * Owns the facts about the event that several steps of the review use: the kind of change, whether it is a
 * breaking change, its source and its target.
 *
 * Must not: weigh a fact (risk.ts), name a label (labels.ts) or a reviewer (reviewers.ts).
 */
import type { PullRequestEvent } from './event.ts';

export type ChangeKind =
  | 'feature'
  | 'fix'
  | 'documentation'
  | 'dependencies'
  | 'tests'
  | 'refactoring'
  | 'build'
  | 'other';

/** Types of conventional commits, and branch prefixes with the same meaning. */
const KIND_OF_WORD: Readonly<Record<string, ChangeKind>> = {
  feat: 'feature',
  feature: 'feature',
  fix: 'fix',
  bugfix: 'fix',
  hotfix: 'fix',
  perf: 'refactoring',
  refactor: 'refactoring',
  style: 'refactoring',
  docs: 'documentation',
  doc: 'documentation',
  test: 'tests',
  tests: 'tests',
  build: 'build',
  ci: 'build',
  deps: 'dependencies',
  dependabot: 'dependencies',
  renovate: 'dependencies',
};

/** Tried in this order on titles without a conventional type. */
const KIND_OF_TITLE: readonly (readonly [RegExp, ChangeKind])[] = [
  [/^bump\b.*\bfrom\b.*\bto\b/i, 'dependencies'],
  [/\b(readme|documentation|docs|changelog|typos?)\b/i, 'documentation'],
  [/^(fix(e[sd])?|repair|correct)\b/i, 'fix'],
  [/\btests?\b/i, 'tests'],
  [/^(refactor|rename|clean up|simplify)\b/i, 'refactoring'],
  [/^(add|implement|support|introduce)\b/i, 'feature'],
];

/** `feat(api)!: …`: type, scope, mark of a breaking change. */
const CONVENTIONAL = /^(\w+)(?:\(([^)]*)\))?(!)?:\s/;

const SENSITIVE =
  /\b(auth|authentication|authorization|oauth|sso|login|sessions?|passwords?|secrets?|tokens?|credentials?|permissions?|crypto|encryption|certificates?|payments?|billing|migrations?|security|vulnerabilit(?:y|ies)|cve-\d+)\b/i;

const RELEASE_BRANCH = /^(?:release|hotfix|stable)(?:[/-]|$)|^v?\d+(?:\.\d+)*(?:\.x)?(?:-stable)?$/i;

const NEWCOMERS: ReadonlySet<string> = new Set(['FIRST_TIMER', 'FIRST_TIME_CONTRIBUTOR', 'NONE']);

/** From the title's conventional type, otherwise the prefix of the branch, otherwise words of the title. */
export function changeKind({ pull_request: pr }: PullRequestEvent): ChangeKind {
  const [, type = '', scope = ''] = CONVENTIONAL.exec(pr.title) ?? [];
  if (/^deps/i.test(scope)) return 'dependencies';
  const prefix = /^([a-z]+)[/-]/i.exec(pr.head.ref)?.[1] ?? '';
  return (
    kindOf(type) ??
    kindOf(prefix) ??
    KIND_OF_TITLE.find(([pattern]) => pattern.test(pr.title))?.[1] ??
    'other'
  );
}

/**
 * Returns true if the author marks a breaking change, by `!` in a conventional title or by `BREAKING CHANGE` in title
 * or body.
 */
export function isBreaking({ pull_request: pr }: PullRequestEvent): boolean {
  if (CONVENTIONAL.exec(pr.title)?.[3] !== undefined) return true;
  return /\bBREAKING[ -]CHANGE\b/.test(`${pr.title}\n${pr.body ?? ''}`);
}

/**
 * The first word about security, money or stored data in the title or branch. The body is not searched, because templates contain such
 * words in every pull request.
 */
export function sensitiveWord({ pull_request: pr }: PullRequestEvent): string | undefined {
  return SENSITIVE.exec(`${pr.title} ${pr.head.ref.replaceAll('_', ' ')}`)?.[1]?.toLowerCase();
}

export function isReleaseBranch({ pull_request: pr }: PullRequestEvent): boolean {
  return RELEASE_BRANCH.test(pr.base.ref);
}

/** If the source repository was deleted, it was a fork. */
export function isFromFork({ pull_request: pr }: PullRequestEvent): boolean {
  return pr.head.repo?.full_name !== pr.base.repo.full_name;
}

/**
 * Returns true if the author has no merged contribution in this repository, according to GitHub. Bots are not
 * newcomers.
 */
export function isNewcomer(event: PullRequestEvent): boolean {
  return NEWCOMERS.has(event.pull_request.author_association) && !isBot(event);
}

function isBot({ pull_request: pr }: PullRequestEvent): boolean {
  return pr.user?.type === 'Bot' || pr.user?.login.endsWith('[bot]') === true;
}

export function isDraft({ pull_request: pr }: PullRequestEvent): boolean {
  return pr.draft === true;
}

/** Returns true if the body has text besides the comments of a template. */
export function hasDescription({ pull_request: pr }: PullRequestEvent): boolean {
  return (pr.body ?? '').replace(/<!--[\s\S]*?(?:-->|$)/g, '').trim() !== '';
}

function kindOf(word: string): ChangeKind | undefined {
  const key = word.toLowerCase();
  return Object.hasOwn(KIND_OF_WORD, key) ? KIND_OF_WORD[key] : undefined;
}
