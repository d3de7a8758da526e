/** Findings about runs in Firestore: small documents outside of the runs. */
import { type DocumentSnapshot, FieldPath, type Query } from '@google-cloud/firestore';
import type { FindingStore, RunFinding } from '../../ports/diagnosis/findings.ts';
import { ifDecodable } from '../../ports/store-errors.ts';
import { call } from '../call.ts';
import { findingCodec } from '../codec/documents.ts';
import { FirestoreStore } from '../firestore-store.ts';

/**
 * Maximum pages of one list. Findings that cannot be decoded are skipped, and only damage or a roll-back makes more of them than a
 * page: a request must not read all of them. Findings after them are listed once these are replaced or deleted.
 */
const MAX_PAGES = 10;

export class FirestoreFindingStore extends FirestoreStore implements FindingStore {
  /** If two writes are concurrent, the later one wins; both have the same content. */
  async note(finding: RunFinding): Promise<void> {
    const { since } = (await this.find(finding.runId)) ?? finding;
    const document = this.paths.finding(finding.runId);
    await call('note of a finding', () => document.set(findingCodec.encode({ ...finding, since })));
  }

  async find(runId: string): Promise<RunFinding | undefined> {
    const found = await call('look for a finding', () => this.paths.finding(runId).get());
    return found.exists ? decoded(found) : undefined;
  }

  async list(limit: number, after?: string): Promise<readonly RunFinding[]> {
    return this.#inOrder(this.paths.findings(), limit, after);
  }

  async ofTenant(tenantId: string, limit: number): Promise<readonly RunFinding[]> {
    return this.#inOrder(this.paths.findings().where('tenantId', '==', tenantId), limit);
  }

  async clear(runId: string): Promise<void> {
    await call('end of a finding', () => this.paths.finding(runId).delete());
  }

  async #inOrder(query: Query, limit: number, after?: string): Promise<readonly RunFinding[]> {
    const ordered = query.orderBy(FieldPath.documentId()).limit(limit);
    const findings: RunFinding[] = [];
    let last = after;
    for (let page = 0; page < MAX_PAGES; page += 1) {
      const behind = last === undefined ? ordered : ordered.startAfter(last);
      const { docs } = await call('list of findings', () => behind.get());
      findings.push(...docs.flatMap((found) => decoded(found) ?? []));
      last = docs.at(-1)?.id;
      if (docs.length < limit || findings.length >= limit) break;
    }
    return findings.slice(0, limit);
  }
}

/**
 * Undefined for a finding that cannot be decoded, so that it does not hide other findings. The next finding of its run replaces
 * it.
 */
function decoded(found: DocumentSnapshot): RunFinding | undefined {
  return ifDecodable(() => findingCodec.decode(found.data() ?? {}, `finding of run ${found.id}`));
}
