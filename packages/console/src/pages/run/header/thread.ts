/** The runs of a thread, among which are the parents and children of a run. */
import type { Api } from '../../../api/client.ts';
import { readPages } from '../../../api/read-pages.ts';
import type { Run, RunGraphNode } from '../live/events.ts';
import { type Relative, topOf } from './family.ts';

/** A child has the thread of its parent, so the first page of the thread contains all of an ordinary family. */
export const THREAD_PAGE = 100;
const MAX_PAGES = 5;
export const MAX_READ = MAX_PAGES * THREAD_PAGE;

/** @param nodes of the plan; undefined where it is not known */
export function hasFamily(
  { parent }: Pick<Run, 'parent'>,
  nodes: readonly RunGraphNode[] | undefined,
): boolean {
  return parent !== undefined || (nodes?.some(({ kind }) => kind === 'child') ?? false);
}

/** The newest runs of the thread, back to the topmost run of the family or to the limit. */
export function threadQuery(api: Api, run: Run) {
  const { threadId } = run;
  const top = topOf(run);
  return {
    queryKey: ['runs', 'thread', threadId],
    queryFn: ({ signal }: { readonly signal: AbortSignal }) =>
      readPages<Relative>(
        MAX_PAGES,
        (cursor) => api.get('/v1/runs', { query: { threadId, limit: THREAD_PAGE, cursor }, signal }),
        ({ id }) => id === top,
      ),
  };
}
