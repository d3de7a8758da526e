/** Logged lines in Firestore: one document for all lines that were written with one snapshot. */
import { FieldPath } from '@google-cloud/firestore';
import type { LogSegment } from '../core/logs/segment.ts';
import type { LogStore } from '../ports/runs/log-store.ts';
import { call } from './call.ts';
import { segmentCodec } from './codec/values.ts';
import { FirestoreStore } from './firestore-store.ts';

export class FirestoreLogStore extends FirestoreStore implements LogStore {
  async readLogs(runId: string, from: string | undefined, limit: number): Promise<readonly LogSegment[]> {
    const ordered = this.paths.logs(this.paths.run(runId)).orderBy(FieldPath.documentId());
    const wanted = from === undefined ? ordered : ordered.startAt(from);
    const { docs } = await call(`read of the log of run ${runId}`, () => wanted.limit(limit).get());
    return docs.map((found) => ({
      id: found.id,
      ...segmentCodec.decode(found.data(), `log ${found.id} of run ${runId}`),
    }));
  }
}
