/** Counts of runs in memory. */
import { isTerminal, RUN_STATUSES } from '../core/run/status.ts';
import type { ActiveRuns, DueEntry, DueQuery, LiveVersion, RunStatistics } from '../ports/run-statistics.ts';
import { MemoryStore } from './memory-store.ts';
import { ascending } from './paging.ts';

export class MemoryRunStatistics extends MemoryStore implements RunStatistics {
  async liveVersions(tenantId: string, limit: number): Promise<readonly LiveVersion[]> {
    const found = new Map<string, LiveVersion>();
    for (const { snapshot } of this.db.runs.values()) {
      const { type, planVersion } = snapshot;
      if (snapshot.tenantId !== tenantId || isTerminal(snapshot.status)) continue;
      const name = `${type}@${planVersion}`;
      found.set(name, { type, planVersion, runs: (found.get(name)?.runs ?? 0) + 1 });
    }
    const order = (a: LiveVersion, b: LiveVersion) =>
      a.type === b.type ? a.planVersion - b.planVersion : a.type < b.type ? -1 : 1;
    return [...found.values()].sort(order).slice(0, limit);
  }

  async activeRuns(tenantId: string): Promise<readonly ActiveRuns[]> {
    const own = [...this.db.runs.values()].filter(({ snapshot }) => snapshot.tenantId === tenantId);
    return RUN_STATUSES.filter((status) => !isTerminal(status)).map((status) => ({
      status,
      runs: own.filter(({ snapshot }) => snapshot.status === status).length,
    }));
  }

  async tenants(limit: number): Promise<readonly string[]> {
    const known = new Set([...this.db.runs.values()].map(({ snapshot }) => snapshot.tenantId));
    return [...known].sort().slice(0, limit);
  }

  async due({ until, type, after, limit }: DueQuery): Promise<readonly DueEntry[]> {
    const entries: DueEntry[] = [];
    for (const [runId, { snapshot, wakeAt }] of this.db.runs) {
      if (wakeAt === undefined || wakeAt > until) continue;
      const { tenantId } = snapshot;
      if (type === undefined || snapshot.type === type)
        entries.push({ runId, tenantId, type: snapshot.type, wakeAt });
    }
    return entries
      .filter((entry) => after === undefined || byTime(entry, after) > 0)
      .sort(byTime)
      .slice(0, limit);
  }
}

function byTime(a: DueEntry, b: DueEntry): number {
  return ascending([a.wakeAt, a.runId], [b.wakeAt, b.runId]);
}
