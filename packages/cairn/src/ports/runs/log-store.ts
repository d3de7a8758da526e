/** Lines that the bodies of a run logged. They are written with its snapshots (`MetadataUpdate.logged`). */
import type { LogSegment } from '../../core/logs/segment.ts';

export interface LogStore {
  /** In the order of their ids, from this one on (itself included; absent: from the first), at most `limit`. */
  readLogs(runId: string, from: string | undefined, limit: number): Promise<readonly LogSegment[]>;
}
