/** Heartbeats of the scheduled functions in Firestore: one document, with a member for each function. */
import { FieldPath } from '@google-cloud/firestore';
import type {
  EndReport,
  Heartbeat,
  HeartbeatStore,
  ScheduledFunction,
  StoredHeartbeats,
} from '../../ports/diagnosis/heartbeats.ts';
import { call } from '../call.ts';
import { heartbeatsCodec } from '../codec/documents.ts';
import { FirestoreStore } from '../firestore-store.ts';

export class FirestoreHeartbeatStore extends FirestoreStore implements HeartbeatStore {
  async record(
    name: ScheduledFunction,
    heartbeat: Heartbeat,
    { found, installation }: EndReport = {},
  ): Promise<void> {
    const installations = installation === undefined ? undefined : { [installation]: heartbeat.at };
    const members = heartbeatsCodec.encode({ [name]: heartbeat, found, installations });
    // Replaces whole members, because a merge would keep the error of an earlier heartbeat.
    const whole = [name, ...(found ? ['found'] : [])];
    const mergeFields =
      installation === undefined ? whole : [...whole, new FieldPath('installations', installation)];
    await call('record of a heartbeat', () => this.paths.heartbeats().set(members, { mergeFields }));
  }

  async read(): Promise<StoredHeartbeats> {
    const what = 'read of the heartbeats';
    const found = await call(what, () => this.paths.heartbeats().get());
    const readAt = found.readTime.toMillis();
    const data = found.data();
    if (!data || !found.createTime) return { latest: {}, readAt };
    return { latest: heartbeatsCodec.decode(data, what), since: found.createTime.toMillis(), readAt };
  }
}
