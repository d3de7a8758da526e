/** The order in which memos are shown. Pure. */
import type { Answer } from 'cairn/api/calls';

export type MemoView = Answer<'Memo'>;

/** As they were recorded; by name, as pages come, while some are not loaded. */
export function inOrder(memos: readonly MemoView[], hasMore: boolean): readonly MemoView[] {
  return hasMore ? memos : memos.toSorted((a, b) => Date.parse(a.recordedAt) - Date.parse(b.recordedAt));
}
