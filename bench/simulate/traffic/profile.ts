/** Requests of one run to the services, as recorded: the input of the simulation. */

/** A request to Firestore. */
export interface Op {
  readonly kind: 'read' | 'commit';
  readonly reads: number;
  /** Collections of the documents written, and those deleted; one entry for each document. */
  readonly writes: readonly string[];
  readonly deletes: number;
  readonly bytes: number;
  /** Documents written faster than the limit of a document, by number. */
  readonly documents: readonly number[];
  /** Indexes of a growing value that got a new entry. */
  readonly ranges: readonly Range[];
}

/** An index whose entries end with a growing value, so that new entries with the same beginning are next to each other. */
export interface Range {
  /** `gwi_runs: tenantId, createdAt` */
  readonly index: string;
  /** Common prefix of its entries, before the growing value. */
  readonly by: 'all' | 'tenant' | 'shard';
}

/** Sequential requests, or running bodies with concurrent requests. */
export type Stage =
  | { readonly kind: 'ops'; readonly ops: readonly Op[] }
  | {
      readonly kind: 'bodies';
      readonly ms: number;
      readonly beside: readonly { readonly afterMs: number; readonly op: Op }[];
    };

export interface Dispatch {
  readonly stages: readonly Stage[];
}

export interface Profile {
  readonly steps: number;
  readonly bodyMs: number;
  readonly parallel: boolean;
  /** Requests of the API call that starts the run, before it enqueues it. */
  readonly start: readonly Op[];
  readonly dispatches: readonly Dispatch[];
  /** Tasks enqueued for the run, the first included. */
  readonly tasks: number;
  /** Bytes of the documents that the run leaves. */
  readonly storedBytes: number;
  /** Billed operations for the deletion of the run after its retention. */
  readonly deletion: { readonly reads: number; readonly deletes: number };
  /** Lines that the engine logs at the default level, and their bytes as JSON. */
  readonly logLines: number;
  readonly logBytes: number;
  /** Time until the scan finds the run if its first task is lost, ms. */
  readonly overdueMs: number;
}

export interface Total {
  readonly reads: number;
  readonly writes: number;
  readonly deletes: number;
  readonly commits: number;
}

export function opsOf({ stages }: Dispatch): Op[] {
  return stages.flatMap((stage) => (stage.kind === 'ops' ? stage.ops : stage.beside.map(({ op }) => op)));
}

export function allOps({ start, dispatches }: Pick<Profile, 'start' | 'dispatches'>): Op[] {
  return [...start, ...dispatches.flatMap(opsOf)];
}

/** Everything that Firestore bills for the run. */
export function totalOf(profile: Pick<Profile, 'start' | 'dispatches'>): Total {
  const total = { reads: 0, writes: 0, deletes: 0, commits: 0 };
  for (const { kind, reads, writes, deletes } of allOps(profile)) {
    total.reads += reads;
    total.writes += writes.length;
    total.deletes += deletes;
    if (kind === 'commit') total.commits += 1;
  }
  return total;
}

/** Writes of a run to each index of a growing value. */
export function rangeWrites(
  profile: Profile,
): Map<string, { readonly by: Range['by']; readonly writes: number }> {
  const found = new Map<string, { by: Range['by']; writes: number }>();
  for (const { ranges } of allOps(profile))
    for (const { index, by } of ranges) {
      const row = found.get(index) ?? { by, writes: 0 };
      row.writes += 1;
      found.set(index, row);
    }
  return found;
}

/** Writes of a run to documents of each collection. */
export function collectionWrites(profile: Profile): Map<string, number> {
  const found = new Map<string, number>();
  for (const { writes } of allOps(profile))
    for (const collection of writes) found.set(collection, (found.get(collection) ?? 0) + 1);
  return found;
}
