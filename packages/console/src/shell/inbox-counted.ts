/** The number of open questions, for the link to the inbox: read by itself, and taken from the inbox wherever that is read. */
import type { Answer } from '../api/client.ts';

/** Beyond this, a plus sign. */
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
