/** Runs that are named outside of themselves, in Firestore: small documents outside of the runs. */
import { FieldPath, type Query, type QueryDocumentSnapshot } from '@google-cloud/firestore';
import type { FindingStore, RunFinding } from '../../ports/diagnosis/findings.ts';
import { ifDecodable } from '../../ports/store-errors.ts';
import { call } from '../call.ts';
import { findingCodec } from '../codec/documents.ts';
import { FirestoreStore } from '../firestore-store.ts';

export class FirestoreFindingStore extends FirestoreStore implements FindingStore {
  /** The later of two concurrent writes wins: both have the same content. */
  async note(finding: RunFinding): Promise<void> {
    const { since } = (await this.find(finding.runId)) ?? finding;
    const document = this.paths.finding(finding.runId);
    await call('note of a finding', () => document.set(findingCodec.encode({ ...finding, since })));
  }

  async find(runId: string): Promise<RunFinding | undefined> {
    const found = await call('look for a finding', () => this.paths.finding(runId).get());
    const data = found.data();
    return data && findingCodec.decode(data, `finding of run ${runId}`);
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

  /** One that cannot be read is passed over: it must not hide the others, or keep the scan from reviewing them. */
  async #inOrder(query: Query, limit: number, after?: string): Promise<readonly RunFinding[]> {
    const found: RunFinding[] = [];
    for (let last = after; ; ) {
      const room = limit - found.length;
      const ordered = query.orderBy(FieldPath.documentId()).limit(room);
      const behind = last === undefined ? ordered : ordered.startAfter(last);
      const { docs } = await call('list of findings', () => behind.get());
      found.push(...docs.flatMap(findingIfReadable));
      last = docs.at(-1)?.id;
      if (docs.length < room || found.length >= limit) return found;
    }
  }
}

function findingIfReadable(found: QueryDocumentSnapshot): readonly RunFinding[] {
  return ifDecodable(() => [findingCodec.decode(found.data(), `finding of run ${found.id}`)]) ?? [];
}
