/**
 * Keeps the view in the address: filters, tabs and the selection are values of its query, so that a link, a reload and the
 * browser's Back show the same. Must not: change the path (`navigate` does) or keep a copy of a value.
 */
import { useCallback, useMemo } from 'react';
import { useLocation, useSearch } from 'wouter';
import { changedQuery, type QueryChanges } from './query-text.ts';

/** `push`: Back undoes the change. `replace`: the change is too small for that, such as a keystroke. */
type Remembered = 'push' | 'replace';

/** Changes several values at once and keeps the others. A change without effect adds no history entry. */
export function useQueryChange(): (changes: QueryChanges, remembered?: Remembered) => void {
  const [, navigate] = useLocation();
  return useCallback(
    (changes, remembered = 'push') => {
      // The address is read at the call, because two changes in one turn must not undo each other.
      const { pathname, search } = window.location;
      const query = changedQuery(search, changes);
      if (query === changedQuery(search, {})) return;
      const to = query === '' ? pathname : `${pathname}?${query}`;
      // A replaced entry keeps its mark.
      if (remembered === 'replace') navigate(to, { replace: true, state: window.history.state });
      else navigate(to, { state: { from: PAGE } });
    },
    [navigate],
  );
}

/** Mark in the state of a history entry: the entry before it is the same page without the last change. */
const PAGE = 'the same page';

/**
 * Undoes a change: goes back if the page made the change, and otherwise, for example after a link, replaces the entry. A change
 * that was or is being undone is left alone.
 */
export function useQueryReturn(): (changes: QueryChanges) => void {
  const change = useQueryChange();
  return useCallback(
    (changes) => {
      const { search } = window.location;
      if (changedQuery(search, changes) === changedQuery(search, {})) return;
      const state = window.history.state as { readonly from?: unknown } | null;
      if (state?.from !== PAGE) return change(changes, 'replace');
      // The browser leaves the entry later, and a second call before that would go back twice.
      if (state === left) return;
      left = state;
      window.history.back();
    },
    [change],
  );
}

/** State of the entry that was left last. The browser makes a new object when it returns to an entry. */
let left: unknown;

/** One value of the query and its setter. Undefined and empty both mean that it is absent. */
export function useQueryState(
  name: string,
): readonly [string | undefined, (value: string | undefined, remembered?: Remembered) => void] {
  const search = useSearch();
  const change = useQueryChange();
  const value = useMemo(() => new URLSearchParams(search).get(name) || undefined, [search, name]);
  const set = useCallback(
    (wanted: string | undefined, remembered?: Remembered) => change({ [name]: wanted }, remembered),
    [change, name],
  );
  return [value, set];
}
