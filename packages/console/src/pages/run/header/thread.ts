/** The runs of a thread, among which are the parents and children of a run. */
import type { Api } from '../../../api/client.ts';
import type { Run, RunGraphNode } from '../live/events.ts';
import { type Relative, topOf } from './family.ts';

/** A child has the thread of its parent: the first page of that list has the whole of a usual family. */
export const THREAD_PAGE = 100;
const MAX_PAGES = 5;
export const MAX_READ = MAX_PAGES * THREAD_PAGE;

export interface Thread {
  readonly items: readonly Relative[];
  /** There are more. */
  readonly isCut: boolean;
}

/** @param nodes of the plan; undefined where it is not known */
export function hasFamily(
  { parent }: Pick<Run, 'parent'>,
  nodes: readonly RunGraphNode[] | undefined,
): boolean {
  return parent !== undefined || (nodes?.some(({ kind }) => kind === 'child') ?? false);
}

export function threadQuery(api: Api, run: Run) {
  return {
    queryKey: ['runs', 'thread', run.threadId],
    queryFn: ({ signal }: { readonly signal: AbortSignal }) =>
      readThread(api, run.threadId, topOf(run), signal),
  };
}

/** The newest runs of the thread, as far back as the top of the family, or as many as are read. */
async function readThread(api: Api, threadId: string, top: string, signal: AbortSignal): Promise<Thread> {
  const items: Relative[] = [];
  let cursor: string | undefined;
  for (let pages = 0; pages < MAX_PAGES; pages += 1) {
    const query = { threadId, limit: THREAD_PAGE, cursor };
    const page = await api.get('/v1/runs', { query, signal });
    items.push(...page.items);
    cursor = page.next;
    if (cursor === undefined || page.items.some(({ id }) => id === top)) return { items, isCut: false };
  }
  return { items, isCut: true };
}
