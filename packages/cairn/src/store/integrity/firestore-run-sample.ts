/** A sample of runs to check, from Firestore. Each query has its index in `firestore.indexes.json`. */
import { FieldPath, Timestamp } from '@google-cloud/firestore';
import { RECORD_TTL_MS } from '../../core/decisions/idempotency.ts';
import { encodeKey } from '../../core/encoding/idempotency-keys.ts';
import type { RecordedStart, RunSample } from '../../ports/runs/integrity-store.ts';
import { call } from '../call.ts';
import { ShardedStore } from '../firestore-store.ts';
import { shardedPage } from '../lists/shards.ts';

export class FirestoreRunSample extends ShardedStore implements RunSample {
  async newest(tenantId: string, limit: number): Promise<readonly string[]> {
    const runs = this.paths.runs().where('tenantId', '==', tenantId).orderBy('createdAt', 'desc');
    const { docs } = await call('sample of newest runs', () => runs.limit(limit).select().get());
    return docs.map(({ id }) => id);
  }

  async following(runId: string, limit: number): Promise<readonly string[]> {
    const runs = this.paths.runs().orderBy(FieldPath.documentId()).startAfter(encodeKey(runId));
    const { docs } = await call('sample of runs', () => runs.limit(limit).select().get());
    return docs.map(({ id }) => id);
  }

  /** Finds runs by the records of their starts, which are kept for a day and have an index by creation. */
  async startedSince(at: number, limit: number): Promise<readonly RecordedStart[]> {
    const docs = await shardedPage({
      what: 'sample of starts',
      shards: await this.shards.ofRecords(),
      documents: this.paths
        .idempotencyRecords()
        .where('status', '==', 'completed')
        .where('expiresAt', '>', Timestamp.fromMillis(at + RECORD_TTL_MS)),
      by: 'expiresAt',
      members: ['runId', 'tenantId', 'expiresAt'],
      limit,
    });
    return docs.flatMap((found) => {
      const { runId, tenantId } = found.data();
      return typeof runId === 'string' && typeof tenantId === 'string' ? [{ runId, tenantId }] : [];
    });
  }

  async existing(runIds: readonly string[]): Promise<ReadonlySet<string>> {
    if (runIds.length === 0) return new Set();
    const runs = runIds.map((runId) => this.paths.run(runId));
    const found = await call('look for runs', () => this.db.getAll(...runs, { fieldMask: ['status'] }));
    return new Set(runIds.filter((_, i) => found[i]?.exists));
  }
}
