/** The meaning of a list filter, for adapters that read runs which no index selects. Pure. */
import { isMatch } from '../../core/search/match.ts';
import { hasTag } from '../../core/search/tags.ts';
import type { ListedRun, RunFilter } from '../run-store.ts';

/**
 * True if a list with this filter includes the run, provided that its tags are short enough for the index. Ignores `among`, which
 * depends on the document.
 */
export function isInList(
  { state: run, waitsFor: waiting }: Pick<ListedRun, 'state' | 'waitsFor'>,
  filter: RunFilter,
): boolean {
  const {
    status,
    waitsFor,
    tag,
    createdFrom = 0,
    createdBefore,
    topLevel,
    match,
    among: _,
    ...named
  } = filter;
  if (topLevel && run.parent !== undefined) return false;
  if (match && !isMatch(run, match)) return false;
  if (run.createdAt < createdFrom) return false;
  if (createdBefore !== undefined && run.createdAt >= createdBefore) return false;
  if (status !== undefined && ![status].flat().some((one) => one === run.status || one === waiting))
    return false;
  if (waitsFor !== undefined && waiting !== waitsFor) return false;
  if (!hasTag(run.tags, tag)) return false;
  const wanted = Object.entries(named).filter(([, value]) => value !== undefined);
  return wanted.every(([name, value]) =>
    [value].flat().some((one) => one === run[name as keyof typeof named]),
  );
}
