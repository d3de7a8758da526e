/**
 * Size of a change for its reviewers.
 *
 * Must not: judge whether large is bad (see risk.ts).
 */
import type { PullRequestEvent } from './event.ts';

export const SIZE_BUCKETS = ['XS', 'S', 'M', 'L', 'XL'] as const;

type SizeBucket = (typeof SIZE_BUCKETS)[number];

export type PullRequestSize = {
  readonly bucket: SizeBucket;
  readonly additions: number;
  readonly deletions: number;
  readonly changedLines: number;
  readonly files: number;
  readonly commits: number;
};

/**
 * The bucket is the first whose bounds hold for both lines and files, because one line in each of 60 files is not a small change. A
 * reviewer can read about 250 lines in one sitting, which is the upper bound of M.
 */
const BOUNDS: readonly { readonly bucket: SizeBucket; readonly lines: number; readonly files: number }[] = [
  { bucket: 'XS', lines: 10, files: 2 },
  { bucket: 'S', lines: 50, files: 6 },
  { bucket: 'M', lines: 250, files: 20 },
  { bucket: 'L', lines: 1_000, files: 60 },
];

export function measureSize({ pull_request: pr }: PullRequestEvent): PullRequestSize {
  const changedLines = pr.additions + pr.deletions;
  const fitting = BOUNDS.find(({ lines, files }) => changedLines <= lines && pr.changed_files <= files);
  return {
    bucket: fitting?.bucket ?? 'XL',
    additions: pr.additions,
    deletions: pr.deletions,
    changedLines,
    files: pr.changed_files,
    commits: pr.commits,
  };
}
