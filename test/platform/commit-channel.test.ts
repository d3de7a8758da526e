/** A commit in bytes reaches Firestore like one sent by the low-level client's own method. */
import { Firestore } from '@google-cloud/firestore';
import { protos, v1 } from '@google-cloud/firestore-api';
import { credentials, Server, ServerCredentials, type ServiceDefinition } from '@grpc/grpc-js';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { lazyCommitChannel } from '../../packages/cairn/src/platform/clients/commit-channel.ts';
import { EncodedBatch } from '../../packages/cairn/src/store/commits/encoded-batch.ts';

interface Arrived {
  readonly headers: Readonly<Record<string, unknown>>;
  readonly request: Buffer;
}

const { CommitRequest, CommitResponse } = protos.google.firestore.v1;
const PROJECT = 'shop';
const DATABASE = 'projects/shop/databases/runs eu';
const arrived: Arrived[] = [];
const server = new Server();
let port = 0;

beforeAll(async () => {
  process.env.METADATA_SERVER_DETECTION = 'none';
  const commit = {
    path: '/google.firestore.v1.Firestore/Commit',
    requestStream: false,
    responseStream: false,
    requestDeserialize: (bytes: Buffer) => bytes,
    requestSerialize: (bytes: Buffer) => bytes,
    responseSerialize: (bytes: Buffer) => bytes,
    responseDeserialize: (bytes: Buffer) => bytes,
  };
  server.addService(
    { Commit: commit } as unknown as ServiceDefinition,
    {
      Commit(
        call: { metadata: { getMap(): object }; request: Buffer },
        answer: (e: null, b: Buffer) => void,
      ) {
        arrived.push({ headers: { ...call.metadata.getMap() }, request: call.request });
        answer(null, Buffer.from(CommitResponse.encode({ commitTime: { seconds: 7, nanos: 8 } }).finish()));
      },
    } as never,
  );
  port = await new Promise((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error ? reject(error) : resolve(bound),
    );
  });
});
afterAll(() => server.forceShutdown());

test('the call carries the bytes, the database and the routing header of the method', async () => {
  const db = new Firestore({ projectId: PROJECT });
  const channel = lazyCommitChannel({
    project: PROJECT,
    database: 'runs eu',
    emulator: `127.0.0.1:${port}`,
    deadlineMs: () => 60_000,
  });
  const batch = new EncodedBatch(channel);
  batch.set('runs/r', { n: 1, text: 'ä' });
  const [written] = await batch.commit();
  expect(written?.writeTime.toMillis()).toBe(7_000);

  const client = new v1.FirestoreClient({
    projectId: PROJECT,
    apiEndpoint: '127.0.0.1',
    port,
    sslCreds: credentials.createInsecure(),
  });
  const fields = { n: { integerValue: 1 }, text: { stringValue: 'ä' } };
  const update = { name: `${DATABASE}/documents/runs/r`, fields };
  await client.commit({ database: DATABASE, writes: [{ update }] });

  const [ours, theirs] = arrived;
  expect(ours?.request).toEqual(theirs?.request);
  expect(CommitRequest.decode(ours?.request as Buffer).database).toBe(DATABASE);
  expect(ours?.headers['x-goog-request-params']).toBe(theirs?.headers['x-goog-request-params']);
  await Promise.all([client.close(), db.terminate()]);
});
