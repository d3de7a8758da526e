/** Runs that are named outside of themselves, in memory. */
import type { FindingStore, RunFinding } from '../ports/diagnosis/findings.ts';
import { frozenCopy } from './memory-database.ts';
import { MemoryStore } from './memory-store.ts';

export class MemoryFindingStore extends MemoryStore implements FindingStore {
  async note(finding: RunFinding): Promise<void> {
    const { since } = this.db.findings.get(finding.runId) ?? finding;
    this.db.findings.set(finding.runId, frozenCopy({ ...finding, since }));
  }

  async find(runId: string): Promise<RunFinding | undefined> {
    return this.db.findings.get(runId);
  }

  async list(limit: number, after = ''): Promise<readonly RunFinding[]> {
    return this.#byId()
      .filter(({ runId }) => runId > after)
      .slice(0, limit);
  }

  async ofTenant(tenantId: string, limit: number): Promise<readonly RunFinding[]> {
    return this.#byId()
      .filter((finding) => finding.tenantId === tenantId)
      .slice(0, limit);
  }

  async clear(runId: string): Promise<void> {
    this.db.findings.delete(runId);
  }

  #byId(): RunFinding[] {
    return [...this.db.findings.values()].sort((a, b) => (a.runId < b.runId ? -1 : 1));
  }
}
