/** The number of open questions for the navigation: read separately, and also updated whenever the inbox is read. */
import type { Answer } from '../api/client.ts';

/** A larger count is shown with a plus sign. */
export const MAX_COUNTED = 20;
export const INBOX_COUNT = ['inbox', 'count'];

interface InboxCounted {
  readonly count: number;
  readonly isCut: boolean;
}

/** @param page the first of the inbox */
export function countedIn({ items, next }: Answer<'InboxPage'>): InboxCounted {
  return {
    count: Math.min(items.length, MAX_COUNTED),
    isCut: next !== undefined || items.length > MAX_COUNTED,
  };
}
