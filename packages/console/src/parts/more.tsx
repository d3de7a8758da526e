/** Button that loads the next page of a list. Absent once all of the list is loaded. */
import type { ReactNode } from 'react';

interface MoreProps {
  readonly of: { readonly hasMore: boolean; readonly isLoadingMore: boolean; loadMore(): void };
  readonly children: ReactNode;
}

export function More({ of: { hasMore, isLoadingMore, loadMore }, children }: MoreProps) {
  if (!hasMore) return null;
  return (
    <button type="button" disabled={isLoadingMore} onClick={loadMore}>
      {children}
    </button>
  );
}
