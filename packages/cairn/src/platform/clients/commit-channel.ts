/** The `Commit` call of the low-level Firestore client, loaded with the first commit. Sent once, with a deadline of ours. */
import { Timestamp } from '@google-cloud/firestore';
import type { protos, v1 } from '@google-cloud/firestore-api';
import type { OperationTally } from '../../ports/diagnosis/operations.ts';
import type { CommitChannel } from '../../store/commits/raw-batch.ts';
import { systemClock } from '../clock.ts';
import { billWrites } from '../diagnosis/tallied.ts';
import { DEADLINES, within } from './deadlines.ts';

export interface CommitChannelOptions {
  readonly project: string;
  /** Its id; left out: that of the default database. */
  readonly database?: string;
  /** `host:port` of a server that speaks plain text; undefined: Google's. */
  readonly emulator: string | undefined;
  /** Told what each commit is billed. */
  readonly tally?: OperationTally;
  /** Deadline of one commit, read before each; shorter in tests. */
  readonly deadlineMs?: () => number;
}

export function lazyCommitChannel(
  options: CommitChannelOptions,
): CommitChannel & { connect(): Promise<unknown> } {
  const database = `projects/${options.project}/databases/${options.database ?? '(default)'}`;
  const { deadlineMs = () => DEADLINES.commitMs } = options;
  let client: Promise<v1.FirestoreClient> | undefined;
  const connected = () => {
    client ??= connect(options);
    return client;
  };
  return {
    database,
    async connect() {
      await (await connected()).initialize();
    },
    async send(writes) {
      const timeout = deadlineMs();
      const sent = (await connected()).commit({ database, writes: [...writes] }, { timeout, retry: null });
      const [{ writeResults, commitTime }] = await within(systemClock, timeout, sent);
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
