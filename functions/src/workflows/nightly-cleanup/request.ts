/** The input of a cleanup: the existing items, and the rule for stale ones. */

import { MAX_ITEMS, parseDuration } from 'cairn';
import { z } from 'zod';

const Duration = z.string().refine(isDuration, 'must be a duration like "30d"');

/** Short, because it is part of the key of a call, which is a header. */
const MAX_ID_CHARS = 500;

export const CleanupItem = z.object({
  id: z.string().min(1).max(MAX_ID_CHARS),
  /** E.g. `branch`, `artifact`, `preview`. */
  kind: z.string().min(1),
  lastUsedAt: z.iso.datetime({ offset: true }),
  /** True: the item is never removed. */
  isProtected: z.boolean().default(false),
});

export type CleanupItem = z.output<typeof CleanupItem>;

/** A longer list cannot be cleaned in one night. */
const MAX_LISTED = 10_000;

/** Response of a janitor's list. */
export const CleanupListing = z.array(CleanupItem).max(MAX_LISTED);

const Sent = z.object({
  /** Absent: the janitor lists them. */
  items: z.array(CleanupItem).max(MAX_ITEMS).optional(),
  /** Time from which ages are computed. It is an input, because a repeated step must decide the same. */
  asOf: z.iso.datetime({ offset: true }).optional(),
  /** Time of the slot, given by a schedule. */
  slot: z.iso.datetime({ offset: true }).optional(),
  olderThan: Duration.default('30d'),
  /** If more items are stale, a person must approve the removal. */
  confirmAbove: z.int().nonnegative().default(100),
  /** Delay between removal and verification. */
  settle: Duration.default('10m'),
});

export const CleanupRequest = Sent.transform(({ slot, asOf = slot, ...rest }, context) => {
  if (asOf !== undefined) return { ...rest, asOf };
  context.addIssue({
    code: 'custom',
    path: ['asOf'],
    message: 'is required if no schedule provides a slot',
  });
  return z.NEVER;
});

export type CleanupRequest = z.output<typeof CleanupRequest>;

/** Items unused for the given time, longest unused first, up to the limit of one cleanup. */
export function staleItems({
  items = [],
  asOf,
  olderThan,
}: Pick<CleanupRequest, 'asOf' | 'olderThan'> & {
  readonly items?: readonly CleanupItem[] | undefined;
}): CleanupItem[] {
  const limit = Date.parse(asOf) - parseDuration(olderThan);
  return items
    .filter(({ isProtected, lastUsedAt }) => !isProtected && Date.parse(lastUsedAt) < limit)
    .sort((a, b) => Date.parse(a.lastUsedAt) - Date.parse(b.lastUsedAt))
    .slice(0, MAX_ITEMS);
}

function isDuration(text: string): boolean {
  try {
    parseDuration(text);
    return true;
  } catch {
    return false;
  }
}
