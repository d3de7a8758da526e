/** The `Commit` call of the low-level Firestore client, loaded with the first commit. */
import { Timestamp } from '@google-cloud/firestore';
import type { protos, v1 } from '@google-cloud/firestore-api';
import type { OperationTally } from '../../ports/diagnosis/operations.ts';
import type { CommitChannel } from '../../store/commits/raw-batch.ts';
import { billWrites } from '../diagnosis/tallied.ts';

const DATABASE = '(default)';

export interface CommitChannelOptions {
  readonly project: string;
  /** `host:port` of a server that speaks plain text; undefined: Google's. */
  readonly emulator: string | undefined;
  /** Told what each commit is billed. */
  readonly tally?: OperationTally;
}

export function lazyCommitChannel(options: CommitChannelOptions): CommitChannel {
  const database = `projects/${options.project}/databases/${DATABASE}`;
  let client: Promise<v1.FirestoreClient> | undefined;
  return {
    database,
    async send(writes) {
      client ??= connect(options);
      const [{ writeResults, commitTime }] = await (await client).commit({ database, writes: [...writes] });
      if (options.tally) billWrites(options.tally, writes);
      return writes.map((_, i) => timestampOf(writeResults?.[i]?.updateTime ?? commitTime));
    },
  };
}

async function connect({ project, emulator }: CommitChannelOptions): Promise<v1.FirestoreClient> {
  const { v1 } = await import('@google-cloud/firestore-api');
  if (emulator === undefined) return new v1.FirestoreClient({ projectId: project });
  const { credentials } = await import('@grpc/grpc-js');
  const [apiEndpoint = '', port] = emulator.split(':');
  const sslCreds = credentials.createInsecure();
  return new v1.FirestoreClient({ projectId: project, apiEndpoint, port: Number(port), sslCreds });
}

function timestampOf(time: protos.google.protobuf.ITimestamp | null | undefined): Timestamp {
  if (!time) throw new Error('Firestore answered a commit without a time');
  return new Timestamp(Number(time.seconds ?? 0), time.nanos ?? 0);
}
