/** Lines that the bodies of a run logged. They are written with the run's snapshots (`MetadataUpdate.logged`). */
import type { LogSegment } from '../../core/logs/segment.ts';

export interface LogStore {
  /** By id, from the given id on (included; absent: from the first), at most `limit`. */
  readLogs(runId: string, from: string | undefined, limit: number): Promise<readonly LogSegment[]>;
}
