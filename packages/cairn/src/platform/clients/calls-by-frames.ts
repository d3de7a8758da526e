/**
 * Sends the Firestore client's reads, listeners and commits over the wire of the local cloud (wire.ts). The library has no setting for
 * that, so the methods through which it sends everything are replaced, as in bounded.ts. With a library version that lacks them, this fails clearly.
 *
 * Without commits over gRPC a worker needs no gRPC client, which takes 0.15 s of CPU. Transactions of the library still need one.
 */
import { PassThrough, Readable } from 'node:stream';
import type { Firestore } from '@google-cloud/firestore';
import type { protos } from '@google-cloud/firestore-api';
import { DEADLINES, type Deadlines } from './deadlines.ts';
import type { Wire } from './wire.ts';

interface SendingInternals {
  request(method: string, message: object, ...rest: unknown[]): Promise<unknown>;
  requestStream(method: string, bidirectional: boolean, message: object, tag: string): Promise<unknown>;
}

const COMMIT = '/google.firestore.v1.Firestore/Commit';
/** The messages of a read, and the name of its method on the wire. */
const READS = {
  batchGetDocuments: ['BatchGetDocuments', 'BatchGetDocumentsRequest', 'BatchGetDocumentsResponse'],
  runQuery: ['RunQuery', 'RunQueryRequest', 'RunQueryResponse'],
  runAggregationQuery: ['RunAggregationQuery', 'RunAggregationQueryRequest', 'RunAggregationQueryResponse'],
} as const;

/** The same client. */
export function callsByFrames(
  db: Firestore,
  wire: Wire,
  { readMs, commitMs }: Pick<Deadlines, 'readMs' | 'commitMs'> = DEADLINES,
): Firestore {
  const client = db as unknown as SendingInternals;
  const { request, requestStream } = client;
  if (typeof request !== 'function' || typeof requestStream !== 'function')
    throw new Error('the Firestore client changed how it sends requests');
  let loaded: Promise<typeof import('@google-cloud/firestore-api')> | undefined;
  const messages = async () => {
    loaded ??= import('@google-cloud/firestore-api');
    return (await loaded).protos.google.firestore.v1;
  };
  client.request = async (method, message, ...rest) => {
    if (method !== 'commit') return request.call(client, method, message, ...rest);
    const { CommitRequest, CommitResponse } = await messages();
    const bytes = CommitRequest.encode(CommitRequest.fromObject(message)).finish();
    return CommitResponse.decode(await wire.call(COMMIT, bytes, commitMs));
  };
  client.requestStream = async (method, bidirectional, message, tag) => {
    if (method !== 'listen' && !(method in READS))
      return requestStream.call(client, method, bidirectional, message, tag);
    const v1 = await messages();
    if (method === 'listen') return new FrameListenStream(wire, v1, message);
    const [name, request, response] = READS[method as keyof typeof READS];
    const { [request]: requestType, [response]: responseType } = v1;
    const bytes = requestType.encode(requestType.fromObject(message)).finish();
    const answers = await wire.stream(`/google.firestore.v1.Firestore/${name}`, bytes, readMs);
    // The library ends the stream that it gets, so the stream must be writable.
    const stream = new PassThrough({ objectMode: true });
    for (const answer of answers) stream.write(responseType.decode(answer));
    stream.end();
    return stream;
  };
  return db;
}

type Messages = typeof protos.google.firestore.v1;

/** A listener sends one request and receives messages until it ends the stream or the stream fails. Then the library opens another one. */
class FrameListenStream extends Readable {
  readonly #stop: () => void;

  constructor(wire: Wire, { ListenRequest, ListenResponse, TargetChange }: Messages, request: object) {
    super({ objectMode: true, read() {} });
    const bytes = ListenRequest.encode(ListenRequest.fromObject(request)).finish();
    this.#stop = wire.listen('/google.firestore.v1.Firestore/Listen', bytes, {
      onMessage: (message) => {
        const response = ListenResponse.decode(message);
        // The library expects the names of the kinds of changes.
        const { targetChange } = response;
        this.push(
          targetChange ? { targetChange: TargetChange.toObject(targetChange as never, BY_NAME) } : response,
        );
      },
      onEnd: (error) => this.destroy(error),
    });
    // The library emits `end` on a stream that it no longer needs.
    this.once('end', this.#stop);
  }

  /** The library calls this as if the stream were writable. */
  end(): void {
    this.#stop();
    this.destroy();
  }
}

const BY_NAME = { enums: String, longs: Number, defaults: true };
