/**
 * Labels of a pull request, compared with its current ones.
 *
 * Must not: remove a label that a person may have set deliberately. Only the labels of this file that can be computed (size,
 * draft, description) are removed.
 */
import type { PullRequestEvent } from './event.ts';
import { type ChangeKind, changeKind, hasDescription, isBreaking, isDraft, isFromFork } from './signals.ts';
import { type PullRequestSize, SIZE_BUCKETS } from './size.ts';

export type LabelAdvice = {
  readonly add: readonly string[];
  /** Wanted labels that are already present. */
  readonly keep: readonly string[];
  /** Present labels of this file that no longer apply. */
  readonly remove: readonly string[];
};

/** GitHub's default label names, if there is one. */
const LABEL_OF_KIND: Readonly<Record<ChangeKind, string | undefined>> = {
  feature: 'enhancement',
  fix: 'bug',
  documentation: 'documentation',
  dependencies: 'dependencies',
  tests: 'tests',
  refactoring: 'refactoring',
  build: 'build',
  other: undefined,
};

const DRAFT = 'work in progress';
const NEEDS_DESCRIPTION = 'needs description';

const MEASURED: ReadonlySet<string> = new Set([...SIZE_BUCKETS.map(sizeLabel), DRAFT, NEEDS_DESCRIPTION]);

export function suggestLabels(event: PullRequestEvent, size: PullRequestSize): LabelAdvice {
  // GitHub's label names are case-insensitive.
  const present = event.pull_request.labels.map(({ name }) => name);
  const presentFolded = new Set(present.map(fold));
  const wanted = wantedLabels(event, size);
  const wantedFolded = new Set(wanted.map(fold));
  return {
    add: wanted.filter((name) => !presentFolded.has(fold(name))),
    keep: present.filter((name) => wantedFolded.has(fold(name))),
    remove: present.filter((name) => isMeasured(name) && !wantedFolded.has(fold(name))),
  };
}

function wantedLabels(event: PullRequestEvent, size: PullRequestSize): readonly string[] {
  return [
    sizeLabel(size.bucket),
    LABEL_OF_KIND[changeKind(event)],
    isBreaking(event) ? 'breaking change' : undefined,
    isFromFork(event) ? 'external contribution' : undefined,
    isDraft(event) ? DRAFT : undefined,
    hasDescription(event) ? undefined : NEEDS_DESCRIPTION,
  ].filter((name) => name !== undefined);
}

function sizeLabel(bucket: string): string {
  return `size/${bucket}`;
}

function isMeasured(name: string): boolean {
  return [...MEASURED].some((measured) => fold(measured) === fold(name));
}

function fold(name: string): string {
  return name.toLowerCase();
}
