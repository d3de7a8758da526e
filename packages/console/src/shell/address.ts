/**
 * Keeps the view in the address: filters, tabs and the selection are values of its query, so that a link, a reload and the
 * browser's Back show the same. Must not: change the path (that is `navigate`'s) or keep a copy of a value.
 */
import { useCallback, useMemo } from 'react';
import { useLocation, useSearch } from 'wouter';
import { changedQuery, type QueryChanges } from './query-text.ts';

/** `push`: Back returns from it. `replace`: too slight to return from, as a letter typed or a row moved to. */
export type Remembered = 'push' | 'replace';

/** Changes several values at once; the others stay. What changes nothing leaves no trace in the history. */
export function useQueryChange(): (changes: QueryChanges, remembered?: Remembered) => void {
  const [, navigate] = useLocation();
  return useCallback(
    (changes, remembered = 'push') => {
      // Read when it is called: two changes in one turn must not undo each other.
      const { pathname, search } = window.location;
      const query = changedQuery(search, changes);
      if (query === changedQuery(search, {})) return;
      const to = query === '' ? pathname : `${pathname}?${query}`;
      // The mark of a pushed entry stays while the entry is replaced.
      if (remembered === 'replace') navigate(to, { replace: true, state: window.history.state });
      else navigate(to, { state: { from: PAGE } });
    },
    [navigate],
  );
}

/** Mark in the state of an entry: the one before it is the same page, without the last change. */
const PAGE = 'the same page';

/**
 * Takes a change back: as Back does, if the page made it; otherwise, as after a link to it, by another entry in its place. What was
 * taken back already, or is about to be, is left as it is.
 */
export function useQueryReturn(): (changes: QueryChanges) => void {
  const change = useQueryChange();
  return useCallback(
    (changes) => {
      const { search } = window.location;
      if (changedQuery(search, changes) === changedQuery(search, {})) return;
      const state = window.history.state as { readonly from?: unknown } | null;
      if (state?.from !== PAGE) return change(changes, 'replace');
      // The browser leaves the entry a moment later: a second call until then would go back twice.
      if (state === left) return;
      left = state;
      window.history.back();
    },
    [change],
  );
}

/** State of the entry that was left last. An entry that is come back to has another object. */
let left: unknown;

/** One value of the query and its setter; undefined and empty are the same: it is not there. */
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
