/**
 * Sends what the Firestore client reads by the wire of the local cloud (wire.ts). The library has no setting for that; the method through
 * which it sends everything that is answered by a stream is replaced, as in bounded.ts. A version without it fails loudly here.
 *
 * Must not: touch listeners, which send more than one request.
 */
import { PassThrough } from 'node:stream';
import type { Firestore } from '@google-cloud/firestore';
import { DEADLINES } from './deadlines.ts';
import type { Wire } from './wire.ts';

interface Internals {
  requestStream(method: string, bidirectional: boolean, message: object, tag: string): Promise<unknown>;
}

/** The messages of a read, and the name of its method on the wire. */
const READS = {
  batchGetDocuments: ['BatchGetDocuments', 'BatchGetDocumentsRequest', 'BatchGetDocumentsResponse'],
  runQuery: ['RunQuery', 'RunQueryRequest', 'RunQueryResponse'],
  runAggregationQuery: ['RunAggregationQuery', 'RunAggregationQueryRequest', 'RunAggregationQueryResponse'],
} as const;

/** The same client. @param deadlineMs of one read, asked before each; longer in tests */
export function readsByFrames(
  db: Firestore,
  wire: Wire,
  deadlineMs: () => number = () => DEADLINES.readMs,
): Firestore {
  const client = db as unknown as Internals;
  const { requestStream } = client;
  if (typeof requestStream !== 'function')
    throw new Error('the Firestore client changed how it sends requests');
  let loaded: Promise<typeof import('@google-cloud/firestore-api')> | undefined;
  client.requestStream = async (method, bidirectional, message, tag) => {
    if (!(method in READS)) return requestStream.call(client, method, bidirectional, message, tag);
    const [name, request, response] = READS[method as keyof typeof READS];
    loaded ??= import('@google-cloud/firestore-api');
    const { protos } = await loaded;
    const { [request]: asked, [response]: told } = protos.google.firestore.v1;
    const bytes = asked.encode(asked.fromObject(message)).finish();
    const answers = await wire.stream(`/google.firestore.v1.Firestore/${name}`, bytes, deadlineMs());
    // The library ends the stream that it was given, so it is one that can be written to.
    const stream = new PassThrough({ objectMode: true });
    for (const answer of answers) stream.write(told.decode(answer));
    stream.end();
    return stream;
  };
  return db;
}
