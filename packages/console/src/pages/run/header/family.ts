/** The tree of a run, its parents and its children, of a list of runs. Pure. */
import type { Answer } from '../../../api/client.ts';

export type Relative = Pick<
  Answer<'RunSummary'>,
  'id' | 'type' | 'status' | 'parent' | 'createdAt' | 'startedAt' | 'completedAt' | 'durationMs'
>;

interface FamilyRow {
  readonly run: Relative;
  /** 0: the run above all its relatives. */
  readonly depth: number;
}

/** The id of the run above all: of a run without a parent its own. */
export function topOf({ id, parent }: Pick<Relative, 'id' | 'parent'>): string {
  return parent?.topRunId ?? parent?.runId ?? id;
}

/** Depth first, children in the order in which they were created. Runs of other families are left out. */
export function familyOf(runs: readonly Relative[], top: string): readonly FamilyRow[] {
  const children = Map.groupBy(runs, ({ parent }) => parent?.runId);
  const rows: FamilyRow[] = [];
  const seen = new Set<string>();
  const add = (run: Relative, depth: number) => {
    // Damaged parents could form a ring.
    if (seen.has(run.id)) return;
    seen.add(run.id);
    rows.push({ run, depth });
    const own = (children.get(run.id) ?? []).toSorted(
      (a, b) => a.createdAt.localeCompare(b.createdAt) || a.id.localeCompare(b.id),
    );
    for (const child of own) add(child, depth + 1);
  };
  const first = runs.find(({ id }) => id === top);
  // A top that is older than what was read has its children shown without it.
  for (const run of first ? [first] : (children.get(top) ?? [])) add(run, first ? 0 : 1);
  return rows;
}
