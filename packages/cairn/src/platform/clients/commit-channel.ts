/**
 * The `Commit` call, by the low-level Firestore client, which is loaded with the first commit, or by the wire of the local cloud. Sent
 * once, with a deadline of ours.
 */
import { Timestamp } from '@google-cloud/firestore';
import type { protos, v1 } from '@google-cloud/firestore-api';
import type { OperationTally } from '../../ports/diagnosis/operations.ts';
import type { CommitChannel } from '../../store/commits/raw-batch.ts';
import { systemClock } from '../clock.ts';
import { billWrites } from '../diagnosis/tallied.ts';
import { DEADLINES, within } from './deadlines.ts';
import type { Wire } from './wire.ts';

export interface CommitChannelOptions {
  readonly project: string;
  /** Database id; default: the default database. */
  readonly database?: string;
  /** `host:port` of a server that speaks plain text; undefined: Google's. */
  readonly emulator: string | undefined;
  /** Address of a server with the wire protocol; default: gRPC. */
  readonly wire?: Wire | undefined;
  /** Receives the billed operations of each commit. */
  readonly tally?: OperationTally;
  /** Deadline of one commit, read before each; shorter in tests. */
  readonly deadlineMs?: () => number;
}

export function lazyCommitChannel(
  options: CommitChannelOptions,
): CommitChannel & { connect(): Promise<unknown> } {
  const database = `projects/${options.project}/databases/${options.database ?? '(default)'}`;
  const { deadlineMs = () => DEADLINES.commitMs } = options;
  const { wire } = options;
  const carrier = wire ? carriedByFrames(wire) : carriedByGrpc(options);
  return {
    database,
    connect: carrier.connect,
    async send(writes) {
      const { writeResults, commitTime } = await carrier.commit(
        { database, writes: [...writes] },
        deadlineMs(),
      );
      if (options.tally) billWrites(options.tally, writes);
      return writes.map((_, i) => timestampOf(writeResults?.[i]?.updateTime ?? commitTime));
    },
    sendBytes: carrier.commitBytes && bytesBy(carrier.commitBytes, options),
  };
}

function bytesBy(
  commitBytes: NonNullable<Carrier['commitBytes']>,
  { tally, deadlineMs = () => DEADLINES.commitMs }: CommitChannelOptions,
): CommitChannel['sendBytes'] {
  return async ({ bytes, writes, deletes }) => {
    const { writeResults, commitTime } = await commitBytes(bytes, deadlineMs());
    tally?.billed({ reads: 0, writes: writes - deletes, deletes });
    return Array.from({ length: writes }, (_, i) => timestampOf(writeResults?.[i]?.updateTime ?? commitTime));
  };
}

type Request = protos.google.firestore.v1.ICommitRequest;
type Response = protos.google.firestore.v1.ICommitResponse;

interface Carrier {
  connect(): Promise<unknown>;
  commit(request: Request, timeoutMs: number): Promise<Response>;
  readonly commitBytes?: (request: Uint8Array, timeoutMs: number) => Promise<Response>;
}

function carriedByGrpc(options: CommitChannelOptions): Carrier {
  let client: Promise<v1.FirestoreClient> | undefined;
  const connected = () => {
    client ??= connect(options);
    return client;
  };
  return {
    connect: async () => (await connected()).initialize(),
    async commit(request, timeout) {
      const sent = (await connected()).commit(request, { timeout, retry: null });
      const [response] = await within(systemClock, timeout, sent);
      return response;
    },
  };
}

const COMMIT = '/google.firestore.v1.Firestore/Commit';

function carriedByFrames(wire: Wire): Carrier {
  let loaded: Promise<typeof protos.google.firestore.v1> | undefined;
  const messages = () => {
    loaded ??= import('@google-cloud/firestore-api').then(({ protos }) => protos.google.firestore.v1);
    return loaded;
  };
  return {
    connect: messages,
    async commit(request, timeout) {
      const { CommitRequest, CommitResponse } = await messages();
      // As it is: `RawBatch` makes what the protocol describes, which a test compares with what `fromObject` would make of it.
      return CommitResponse.decode(await wire.call(COMMIT, CommitRequest.encode(request).finish(), timeout));
    },
    async commitBytes(request, timeout) {
      const { CommitResponse } = await messages();
      return CommitResponse.decode(await wire.call(COMMIT, request, timeout));
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
