/** Builds the tree of a run, its parents and its children from a list of runs. Pure. */
import type { Answer } from '../../../api/client.ts';

export type Relative = Pick<
  Answer<'RunSummary'>,
  'id' | 'type' | 'status' | 'parent' | 'createdAt' | 'startedAt' | 'completedAt' | 'durationMs'
>;

interface FamilyRow {
  readonly run: Relative;
  /** 0 for the topmost run. */
  readonly depth: number;
}

/** The id of the topmost run, which is the run itself if it has no parent. */
export function topOf({ id, parent }: Pick<Relative, 'id' | 'parent'>): string {
  return parent?.topRunId ?? parent?.runId ?? id;
}

/** Depth first, children in the order in which they were created. Runs of other families are left out. */
export function familyOf(runs: readonly Relative[], top: string): readonly FamilyRow[] {
  const children = Map.groupBy(runs, ({ parent }) => parent?.runId);
  const rows: FamilyRow[] = [];
  const seen = new Set<string>();
  const add = (run: Relative, depth: number) => {
    // Damaged parents could form a cycle.
    if (seen.has(run.id)) return;
    seen.add(run.id);
    rows.push({ run, depth });
    const own = (children.get(run.id) ?? []).toSorted(
      (a, b) => a.createdAt.localeCompare(b.createdAt) || a.id.localeCompare(b.id),
    );
    for (const child of own) add(child, depth + 1);
  };
  const first = runs.find(({ id }) => id === top);
  // If the topmost run is older than the runs read, its children are shown without it.
  for (const run of first ? [first] : (children.get(top) ?? [])) add(run, first ? 0 : 1);
  return rows;
}
