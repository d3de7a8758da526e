/**
 * The `Commit` call with a request in bytes, over the low-level Firestore client, which is loaded with the first commit, or over the wire
 * of the local cloud. Sent once, with a deadline that Cairn sets.
 */
import { Timestamp } from '@google-cloud/firestore';
import type { protos } from '@google-cloud/firestore-api';
import type { OperationTally } from '../../ports/diagnosis/operations.ts';
import type { CommitChannel } from '../../store/commits/store-batch.ts';
import { systemClock } from '../clock.ts';
import { connectedOnce } from './connected-once.ts';
import { DEADLINES, within } from './deadlines.ts';
import type { Wire } from './wire.ts';

interface CommitChannelOptions {
  readonly project: string;
  /** Database id; default: the default database. */
  readonly database?: string;
  /** `host:port` of a server that speaks plain text; undefined: Google's. */
  readonly emulator: string | undefined;
  /** Address of a server with the wire protocol; default: gRPC. */
  readonly wire?: Wire | undefined;
  /** Receives the billed operations of each commit. */
  readonly tally?: OperationTally;
  /** Returns the deadline of one commit; shorter in tests. */
  readonly deadlineMs?: () => number;
}

export function lazyCommitChannel(
  options: CommitChannelOptions,
): CommitChannel & { connect(): Promise<unknown> } {
  const database = `projects/${options.project}/databases/${options.database ?? '(default)'}`;
  const { wire, tally, deadlineMs = () => DEADLINES.commitMs } = options;
  const carrier = wire ? carriedByFrames(wire) : carriedByGrpc(options, database);
  return {
    database,
    connect: carrier.connect,
    async send({ bytes, writes, deletes }) {
      const { writeResults, commitTime } = await carrier.commit(bytes, deadlineMs());
      tally?.billed({ reads: 0, writes: writes - deletes, deletes });
      return Array.from({ length: writes }, (_, i) =>
        timestampOf(writeResults?.[i]?.updateTime ?? commitTime),
      );
    },
  };
}

type CommitResponse = protos.google.firestore.v1.ICommitResponse;

interface CommitCarrier {
  connect(): Promise<unknown>;
  /** @param request an encoded `CommitRequest` */
  commit(request: Uint8Array, timeoutMs: number): Promise<CommitResponse>;
}

const COMMIT = '/google.firestore.v1.Firestore/Commit';

/** The used part of the grpc-js client in the stub of the low-level client. */
interface Stub {
  makeUnaryRequest(
    path: string,
    serialize: (request: Buffer) => Buffer,
    deserialize: (bytes: Buffer) => CommitResponse,
    request: Buffer,
    options: { readonly deadline: number; readonly interceptors: readonly Interceptor[] },
    callback: (error: Error | null, response?: CommitResponse) => void,
  ): unknown;
}

interface InterceptedCommit {
  start(metadata: { set(name: string, value: string): void }, listener: unknown): void;
}

type Interceptor = (options: object, next: (options: object) => InterceptedCommit) => InterceptedCommit;

/**
 * Uses the authenticated stub of the low-level client, because the client's own method takes objects. Adds the same routing
 * header as that method.
 */
function carriedByGrpc(options: CommitChannelOptions, database: string): CommitCarrier {
  const connection = connectedOnce(() => connect(options));
  const routing = `database=${encodeURIComponent(database)}`;
  const interceptors: readonly Interceptor[] = [
    (callOptions, next) => {
      const call = next(callOptions);
      const start = call.start.bind(call);
      call.start = (metadata, listener) => {
        metadata.set('x-goog-request-params', routing);
        start(metadata, listener);
      };
      return call;
    },
  ];
  return {
    connect: connection,
    async commit(request, timeout) {
      const { stub, decode } = await connection();
      const sent = new Promise<CommitResponse>((resolve, reject) => {
        stub.makeUnaryRequest(
          COMMIT,
          (bytes) => bytes,
          decode,
          Buffer.from(request.buffer, request.byteOffset, request.length),
          { deadline: systemClock.now() + timeout, interceptors },
          (error, response) => (error ? reject(error) : resolve(response ?? {})),
        );
      });
      return within(systemClock, timeout, sent);
    },
  };
}

function carriedByFrames(wire: Wire): CommitCarrier {
  let loaded: Promise<typeof protos.google.firestore.v1> | undefined;
  const messages = () => {
    loaded ??= import('@google-cloud/firestore-api').then(({ protos }) => protos.google.firestore.v1);
    return loaded;
  };
  return {
    connect: messages,
    async commit(request, timeout) {
      const { CommitResponse } = await messages();
      return CommitResponse.decode(await wire.call(COMMIT, request, timeout));
    },
  };
}

interface Connection {
  readonly stub: Stub;
  readonly decode: (bytes: Buffer) => CommitResponse;
}

async function connect({ project, emulator }: CommitChannelOptions): Promise<Connection> {
  const { v1, protos } = await import('@google-cloud/firestore-api');
  const { CommitResponse } = protos.google.firestore.v1;
  const client =
    emulator === undefined
      ? new v1.FirestoreClient({ projectId: project })
      : new v1.FirestoreClient({ projectId: project, ...(await plainText(emulator)) });
  const stub = (await client.initialize()) as unknown as Stub;
  if (typeof stub.makeUnaryRequest !== 'function')
    throw new Error('the low-level Firestore client changed its stub');
  return { stub, decode: (bytes: Buffer) => CommitResponse.decode(bytes) };
}

async function plainText(emulator: string) {
  const { credentials } = await import('@grpc/grpc-js');
  const [apiEndpoint = '', port] = emulator.split(':');
  return { apiEndpoint, port: Number(port), sslCreds: credentials.createInsecure() };
}

function timestampOf(time: protos.google.protobuf.ITimestamp | null | undefined): Timestamp {
  if (!time) throw new Error('Firestore answered a commit without a time');
  const { seconds } = time;
  // A `Long`, whose conversion to text would be slow.
  const whole = typeof seconds === 'object' && seconds !== null ? seconds.toNumber() : Number(seconds ?? 0);
  return new Timestamp(whole, time.nanos ?? 0);
}
