/**
 * Request of a review: the webhook's payload, and additions of API callers.
 *
 * Must not: fetch anything. A `pull_request` payload has the number of changed files, not their contents. A caller that has
 * the files (a CI job) sends them.
 */

import { MAX_ITEMS } from 'cairn';
import { z } from 'zod';
import { beginning, PullRequestEvent } from './event.ts';

/** Longest patch that is read: about the length that GitHub shows before it asks to load the rest. */
export const MAX_PATCH_CHARS = 40_000;

const Count = z.int().nonnegative();

/** The members of GitHub's "list pull requests files" that the review reads. */
export const ChangedFile = z.object({
  filename: z.string().min(1),
  status: z.enum(['added', 'removed', 'modified', 'renamed', 'copied', 'changed', 'unchanged']),
  additions: Count,
  deletions: Count,
  /** Absent for binary files and very large changes. */
  patch: z
    .string()
    .transform((patch) => beginning(patch, MAX_PATCH_CHARS))
    .optional(),
});

export type ChangedFile = z.output<typeof ChangedFile>;

/** Request of version 2, which posts nothing. */
export const ReviewRequest2 = PullRequestEvent.extend({
  files: z.array(ChangedFile).max(MAX_ITEMS).default([]),
  /** When to require a sign-off: for risky changes, always, or never. */
  signOff: z.enum(['risky', 'always', 'never']).default('risky'),
});

export type ReviewRequest2 = z.output<typeof ReviewRequest2>;

export const ReviewRequest = ReviewRequest2.extend({
  /** True to post the review, if GitHub is configured. */
  post: z.boolean().default(true),
});

export type ReviewRequest = z.output<typeof ReviewRequest>;
