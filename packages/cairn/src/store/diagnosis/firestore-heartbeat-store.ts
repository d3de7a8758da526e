/** Signs of life in Firestore: one document, of which each function writes its own member. */
import { FieldPath } from '@google-cloud/firestore';
import type {
  BeatingFunction,
  EndReport,
  HeardBeats,
  Heartbeat,
  HeartbeatStore,
} from '../../ports/diagnosis/heartbeats.ts';
import { call } from '../call.ts';
import { heartbeatsCodec } from '../codec/heartbeats.ts';
import { FirestoreStore } from '../firestore-store.ts';

export class FirestoreHeartbeatStore extends FirestoreStore implements HeartbeatStore {
  async beat(name: BeatingFunction, beat: Heartbeat, { found, installation }: EndReport = {}): Promise<void> {
    const installations = installation === undefined ? undefined : { [installation]: beat.at };
    const members = heartbeatsCodec.encode({ [name]: beat, found, installations });
    // Members as a whole: a merge would leave the error of a run before in that of one that went well.
    const whole = [name, ...(found ? ['found'] : [])];
    const mergeFields =
      installation === undefined ? whole : [...whole, new FieldPath('installations', installation)];
    await call('note of a sign of life', () => this.paths.heartbeats().set(members, { mergeFields }));
  }

  async read(): Promise<HeardBeats> {
    const what = 'read of the signs of life';
    const found = await call(what, () => this.paths.heartbeats().get());
    const readAt = found.readTime.toMillis();
    const data = found.data();
    if (!data || !found.createTime) return { beats: {}, readAt };
    return { beats: heartbeatsCodec.decode(data, what), since: found.createTime.toMillis(), readAt };
  }
}
